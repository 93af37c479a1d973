/**
 * StreamPort and KeyspacePort over the engine of the same process: the bus's memory adapter.
 *
 * Commands are spelled and replies are read by the code that also serves real servers; only the way to the server differs. The
 * contract suite of the port holds for it: test/embedded/embeddedPort.contract.test.ts.
 */
import { BusError } from '../../bus/errors';
import type { Capabilities, StreamReader } from '../../bus/port';
import type { Call, Traffic } from '../../bus/redis/link';
import { RedisPort } from '../../bus/redis/redisPort';
import type { Route } from '../../bus/redis/route';
import type { Engine } from '../engine';
import { EmbeddedLink } from './link';
import type { ProcessNetwork } from './network';
import { EmbeddedReader } from './reader';

/** A port to an engine, belonging to one simulated process. */
export class EmbeddedPort extends RedisPort {
  private readonly ownReaders = new Set<EmbeddedReader>();
  private isOver = false;
  private embedded: Promise<Capabilities> | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly network: ProcessNetwork,
  ) {
    const traffic: Traffic = { connections: 1, commands: 0, flushes: 0 };
    super(new EmbeddedRoute(new EmbeddedLink(engine, network), traffic), traffic);
  }

  override async capabilities(): Promise<Capabilities> {
    this.embedded ??= this.askAsEmbedded();
    return this.embedded;
  }

  override async openReader(): Promise<StreamReader> {
    if (this.isOver) throw new BusError('closed', 'A reader cannot be opened: this port was closed.');
    if (this.network.state === 'cut')
      throw new BusError('connection-lost', 'A reader cannot be opened: the embedded engine cannot be reached.');
    const reader = new EmbeddedReader(new EmbeddedLink(this.engine, this.network), (closed) =>
      this.ownReaders.delete(closed),
    );
    this.ownReaders.add(reader);
    if (this.network.state === 'gone') await new Promise(() => undefined);
    return reader;
  }

  override async close(): Promise<void> {
    this.isOver = true;
    for (const reader of [...this.ownReaders]) reader.close();
    await super.close();
  }

  private async askAsEmbedded(): Promise<Capabilities> {
    try {
      const { version } = this.engine.options.identity;
      return { ...(await super.capabilities()), server: 'embedded', version };
    } catch (error) {
      this.embedded = undefined;
      throw error;
    }
  }
}

/** The way to the engine: one connection, always there while the network is up. */
class EmbeddedRoute implements Route {
  constructor(
    private readonly link: EmbeddedLink,
    private readonly traffic: Traffic,
  ) {}

  connect(): Promise<void> {
    return Promise.resolve();
  }

  call(call: Call): Promise<unknown> {
    this.traffic.commands += 1;
    return this.link.call(call);
  }

  callAt(_peer: string, call: Call): Promise<unknown> {
    return this.call(call);
  }

  masters(): Promise<readonly string[]> {
    return Promise.resolve(['embedded']);
  }

  openLink(): Promise<never> {
    return Promise.reject(new BusError('protocol', 'The embedded engine has no links: its readers are its own.'));
  }

  redirected(error: BusError): void {
    throw error;
  }

  close(): void {
    this.link.close();
  }
}
