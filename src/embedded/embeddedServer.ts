import { systemClock } from '../base/clock';
import type { Clock } from '../base/clock';
import type { KeyspacePort, StreamPort } from '../bus/port';
import { Engine } from './engine';
import { embeddedVersion } from './identity';
import { EmbeddedPort } from './port/embeddedPort';
import type { Loss } from './port/network';
import { ProcessNetwork } from './port/network';
import { busTwins } from './scripts/registry';
import { VirtualClock } from './virtualClock';

/** A simulated process: its own port to the engine, and a clock that stops when it crashes. */
export interface EmbeddedProcess {
  readonly name: string;
  readonly clock: Clock;
  readonly openPort: () => StreamPort & KeyspacePort;
}

/** An engine in this process with ports to it, and the ways in which a test lets time pass and things break. */
export class EmbeddedServer {
  readonly engine: Engine;
  readonly clock: Clock;
  private readonly networks = new Map<string, ProcessNetwork>();

  /** Without a clock, time is virtual and only `advance` moves it. */
  constructor(options: { readonly clock?: Clock; readonly password?: string } = {}) {
    this.clock = options.clock ?? new VirtualClock();
    this.engine = new Engine({
      clock: this.clock,
      ...(options.password === undefined ? {} : { password: options.password }),
      scripts: busTwins,
      identity: { version: embeddedVersion, port: 0 },
    });
  }

  /** The process of this name, made at its first mention or after its crash. Name it as the consumer that it runs. */
  process(name: string): EmbeddedProcess {
    const network = this.networkOf(name);
    return { name, clock: network.clock, openPort: () => new EmbeddedPort(this.engine, network) };
  }

  /** Moves virtual time on; throws when the server runs on another clock. */
  async advance(ms: number): Promise<void> {
    if (!(this.clock instanceof VirtualClock))
      throw new Error('Time cannot be advanced: this embedded server was given a clock of its own');
    await this.clock.advance(ms);
  }

  /** Ends a process as SIGKILL does: its calls never settle, its timers never run, the engine sees its connections close. */
  crash(name: string): void {
    this.networks.get(name)?.vanish();
    this.networks.delete(name);
  }

  /**
   * Cuts a process off from the engine: its calls reject with `connection-lost` until the returned function heals the link. What was
   * in flight is lost as told; with `replies`, the engine still carries it out and serves a blocked read to nobody.
   */
  partition(name: string, loss: Loss = 'requests'): () => void {
    return this.networkOf(name).cut(loss);
  }

  private networkOf(name: string): ProcessNetwork {
    const network = this.networks.get(name) ?? new ProcessNetwork(name, this.clock);
    this.networks.set(name, network);
    return network;
  }
}

/** Makes an engine of its own and a port to it, on the system's clock: what `embedded://` stands for. */
export function createEmbeddedPort(options: { readonly clock?: Clock } = {}): StreamPort & KeyspacePort {
  return new EmbeddedServer({ clock: options.clock ?? systemClock() }).process('main').openPort();
}
