import { connect } from 'node:net';

/**
 * A loopback port where somebody listens for as long as this consumer is wanted, such as an editor that launched it. The end of the
 * connection, or anything said on it, means that it is wanted no more; a line with `"now":true` in it, that its own thread is stopped
 * by a debugger and is not to run on.
 */
export interface Lifeline {
  readonly port: number;
  /** The line that the listener expects first. */
  readonly hello: string;
}

/** How long the consumer's own thread has to begin closing once it is not wanted any more, and to be done with it. */
export const lifelineLimits = { answerMs: 2000, closeMs: 7000, giveBackMs: 2000 };

/** How a consumer is wanted no more: it may come to its end by itself, or not. */
export type LifelineEnd = 'in-time' | 'now';

/** Connects and calls `over` once when the consumer is not wanted any more; what it returns ends the watch without that. */
export function watchLifeline({ port, hello }: Lifeline, over: (how: LifelineEnd) => void): () => void {
  const socket = connect({ host: '127.0.0.1', port });
  let isOver = false;
  const end = (how: LifelineEnd): void => {
    if (isOver) return;
    isOver = true;
    over(how);
  };
  socket.once('connect', () => socket.write(`${hello}\n`));
  socket.setEncoding('utf8').on('data', (text: string) => {
    end(text.includes('"now":true') ? 'now' : 'in-time');
  });
  // Every error is followed by a close.
  socket.on('error', () => undefined);
  socket.once('close', () => {
    end('in-time');
  });
  return () => {
    isOver = true;
    socket.destroy();
  };
}
