import type { Bus, BusOptions } from '../bus';
import { createBus } from '../bus';
import { EmbeddedServer } from './embeddedServer';
import type { Loss } from './port/network';

/** How a memory bus is made: as by `createBus`, but the default of `clock` is virtual time, moved by `advance`. */
export type MemoryBusOptions = Omit<BusOptions, 'redis' | 'port'>;

/** Buses over one engine in this process. */
export interface MemoryBus {
  readonly server: EmbeddedServer;
  /** The bus of the process `main`. */
  readonly bus: Bus;
  /** The bus of another simulated process, which can crash or be cut off by its name; name it as the consumer that it runs. */
  open(process: string): Bus;
  advance(ms: number): Promise<void>;
  crash(process: string): void;
  partition(process: string, loss?: Loss): () => void;
}

/** Makes a bus without a server: the same consume loop over the embedded engine. */
export function createMemoryBus(options: MemoryBusOptions = {}): MemoryBus {
  const server = new EmbeddedServer(options.clock === undefined ? {} : { clock: options.clock });
  const open = (name: string): Bus => {
    const { clock, openPort } = server.process(name);
    return createBus({ ...options, port: openPort(), clock });
  };
  return {
    server,
    bus: open('main'),
    open,
    advance: (ms) => server.advance(ms),
    crash: (name) => {
      server.crash(name);
    },
    partition: (name, loss) => server.partition(name, loss),
  };
}
