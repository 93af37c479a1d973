import { connect } from 'node:net';

/**
 * A loopback port where somebody listens for as long as this consumer is wanted, such as an editor that launched it. The end of the
 * connection, or anything said on it, means that it is wanted no more.
 */
export interface Lifeline {
  readonly port: number;
  /** The line that the listener expects first. */
  readonly hello: string;
}

/** How long the consumer's own thread has to begin closing once it is not wanted any more, and to be done with it. */
export const lifelineLimits = { answerMs: 2000, closeMs: 7000, giveBackMs: 2000 };

/** Connects and calls `over` once when the consumer is not wanted any more; what it returns ends the watch without that. */
export function watchLifeline({ port, hello }: Lifeline, over: () => void): () => void {
  const socket = connect({ host: '127.0.0.1', port });
  let isOver = false;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    over();
  };
  socket.once('connect', () => socket.write(`${hello}\n`));
  socket.on('data', end);
  // Every error is followed by a close.
  socket.on('error', () => undefined);
  socket.once('close', end);
  return () => {
    isOver = true;
    socket.destroy();
  };
}
