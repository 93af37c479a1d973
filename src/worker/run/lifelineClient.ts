import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { LaunchLifeline } from './launchFile';

/** What became of a message, as the editor is told. */
export type SettledOutcome =
  'acknowledged' | 'retry-scheduled' | 'dead-lettered' | 'released' | 'ownership-lost' | 'message-gone' | 'not-settled';

/** What the worker tells the editor that launched it; the other side is `src/debugging/lifelineServer.ts`. */
export type WorkerMessage =
  | { readonly type: 'hello'; readonly pid: number }
  | { readonly type: 'ready'; readonly group: string; readonly consumer: string }
  | { readonly type: 'delivered'; readonly id: string; readonly deliveryCount: number }
  | { readonly type: 'settled'; readonly id: string; readonly outcome: SettledOutcome }
  | { readonly type: 'error'; readonly reason: string; readonly message: string }
  | { readonly type: 'bye'; readonly exitCode: number };

/** The worker's end of the lifeline: a loopback connection to the editor. Lines of JSON after one line with the secret. */
export interface LifelineClient {
  send(message: WorkerMessage): void;
  /** Sends what is left and ends the connection without that counting as lost. */
  close(): Promise<void>;
}

/** What the other end asked for or that it is gone. */
export type LifelineEnd = 'stop' | 'lost';

/** Connects; rejects when nobody listens any more. `ended` is called once. */
export function connectLifeline(lifeline: LaunchLifeline, ended: (how: LifelineEnd) => void): Promise<LifelineClient> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port: lifeline.port });
    let isOver = false;
    const end = (how: LifelineEnd): void => {
      if (isOver) return;
      isOver = true;
      ended(how);
    };
    socket.once('connect', () => {
      socket.setNoDelay(true);
      socket.write(`${lifeline.token}\n`);
      socket.off('error', reject);
      resolve({
        send: (message) => {
          if (socket.writable) socket.write(`${JSON.stringify(message)}\n`);
        },
        close: () => {
          isOver = true;
          return endSocket(socket);
        },
      });
    });
    socket.once('error', reject);
    // Every error is followed by a close.
    socket.on('error', () => undefined);
    // The other end says one thing only: stop.
    socket.on('data', () => {
      end('stop');
    });
    socket.once('close', () => {
      end('lost');
    });
  });
}

function endSocket(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) {
      resolve();
      return;
    }
    socket.once('close', () => {
      resolve();
    });
    socket.end();
    setTimeout(() => socket.destroy(), 200).unref();
  });
}
