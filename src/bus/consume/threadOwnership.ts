import { Worker } from 'node:worker_threads';
import { BusError } from '../errors';
import type { Delivery } from './delivery';
import { heartbeatThreadFile } from './heartbeatThread';
import type { HeartbeatConnection, HeartbeatMessage, HeartbeatThreadData } from './heartbeatThread';
import type { HeldTable } from './heldTable';
import type { Lifeline } from './lifeline';
import { TimerOwnership } from './ownership';
import type { Ownership, OwnershipOptions } from './ownership';

/** Beats from a thread with a connection of its own. When the thread dies, a timer of this thread takes over. */
export class ThreadOwnership implements Ownership {
  private worker: Worker | undefined;
  private fallback: TimerOwnership | undefined;
  private waiters: (() => void)[] = [];
  private isStopping = false;

  constructor(
    private readonly options: OwnershipOptions,
    private readonly table: HeldTable,
    private readonly connection: HeartbeatConnection,
    private readonly lifeline: Lifeline | undefined,
  ) {}

  start(): Promise<void> {
    const { stream, group, consumer, heartbeatMs, minIdleMs } = this.options;
    const data: HeartbeatThreadData = {
      kind: 'redis-streams-heartbeat',
      connection: this.connection,
      stream,
      group,
      consumer,
      heartbeatMs,
      buffer: this.table.buffer,
      capacity: this.table.capacity,
      minIdleMs,
      ...(this.lifeline ? { lifeline: this.lifeline } : {}),
    };
    return new Promise((resolve, reject) => {
      const worker = startThread(data);
      this.worker = worker;
      worker.on('message', (message: HeartbeatMessage) => {
        this.received(message);
        if (message.kind === 'beat') resolve();
        else if (!message.retriable) reject(new BusError('server', `The heartbeat thread failed: ${message.message}`));
      });
      worker.on('error', (error) => {
        this.options.listener.beatFailed(error);
      });
      worker.on('exit', () => {
        this.died();
        reject(new BusError('closed', 'The heartbeat thread ended before its first beat'));
      });
    });
  }

  isConfirmed(delivery: Delivery): boolean {
    if (this.fallback) return this.fallback.isConfirmed(delivery);
    if (this.table.isLost(delivery.slot)) return false;
    const { lastBeatMs } = this.table;
    // A beat that began after the entry was added has kept it.
    const confirmedAtMs = Math.max(delivery.confirmedAtMs, delivery.slot >= 0 ? lastBeatMs : 0);
    return this.options.clock.now() - confirmedAtMs < this.options.minIdleMs;
  }

  settled(): Promise<void> {
    if (this.fallback) return this.fallback.settled();
    const count = this.table.beatCount;
    if (count % 2 === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.table.beatCount !== count || this.worker === undefined) resolve();
        else this.waiters.push(check);
      };
      this.waiters.push(check);
    });
  }

  closing(): void {
    this.table.markClosing();
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    const { worker } = this;
    if (worker) {
      const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
      worker.postMessage('stop');
      // A beat that is under way on a dead link would hold the thread up for the link's time limit.
      const cancel = this.options.clock.after(500, () => void worker.terminate());
      await exited;
      cancel();
    }
    await this.fallback?.stop();
  }

  private received(message: HeartbeatMessage): void {
    if (message.kind === 'beat') for (const entry of message.lost) this.options.listener.lost(entry);
    else this.options.listener.beatFailed(new Error(message.message));
    this.tellWaiters();
  }

  private died(): void {
    this.worker = undefined;
    if (!this.isStopping) {
      this.fallback = new TimerOwnership(this.options);
      void this.fallback.start();
    }
    this.tellWaiters();
  }

  private tellWaiters(): void {
    const waiters = this.waiters;
    this.waiters = [];
    for (const waiter of waiters) waiter();
  }
}

/** Run from its TypeScript source, as by tests, the thread needs the loader that its parent has; threads do not inherit it. */
function startThread(workerData: HeartbeatThreadData): Worker {
  const name = 'redis-streams-heartbeat';
  if (!heartbeatThreadFile.endsWith('.ts')) return new Worker(heartbeatThreadFile, { workerData, name });
  const program = `require('tsx/cjs'); require(${JSON.stringify(heartbeatThreadFile)});`;
  return new Worker(program, { workerData, name, eval: true });
}
