// A loopback TCP proxy in front of a Redis server that breaks connections where a test says: before a command reaches the
// server, after it did, after its reply came back, in the middle of that reply. It knows commands by their words and
// nothing of what they mean. The faults are described in commandFault.ts. Tested by test/bus/faultProxy.test.ts.
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server } from 'node:net';
import { freePort } from '../../scripts/lib/freePort.mjs';
import { CommandFaults } from './commandFault';
import type { CommandFault, CommandMatch, Fault } from './commandFault';
import { ProxyConnection } from './proxyConnection';
import type { ProxyState } from './proxyConnection';

/** What a proxy does with whole connections: forward, accept and swallow every byte, or accept no connection. */
export type ProxyMode = ProxyState['mode'];

/** A proxy that runs until `stop`. */
export interface FaultProxy {
  readonly host: string;
  readonly port: number;
  /** `redis://host:port`, without credentials. */
  readonly url: string;
  readonly openConnections: number;
  /** How many commands of that name were forwarded to the server so far. */
  forwarded(command: string): number;
  /** Does `fault` to the next command that matches, once. */
  next(match: CommandMatch, fault: Fault): CommandFault;
  /**
   * Changes what happens to connections and bytes from now on. `refuse` also resets the open ones; a connection that lost
   * bytes to `black-hole` stays silent for good.
   */
  setMode(mode: ProxyMode): Promise<void>;
  /** Passes every reply on only after this many milliseconds; 0 to stop doing so. */
  delayReplies(ms: number): void;
  /** Ends every open connection, politely or with a reset. */
  cutAll(how?: 'end' | 'reset'): void;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port in front of the server on `targetPort`; `opaque` for TLS, where commands are not seen. */
export async function startFaultProxy(targetPort: number, { opaque = false } = {}): Promise<FaultProxy> {
  const port = await freePort();
  const connections = new Set<ProxyConnection>();
  const state: ProxyState = { mode: 'pass', delayMs: 0, opaque, faults: new CommandFaults(), forwarded: new Map() };
  const server = createServer((client) => {
    const connection = new ProxyConnection(client, targetPort, state, () => connections.delete(connection));
    connections.add(connection);
  });
  const cutAll = (how: 'end' | 'reset' = 'end'): void => {
    for (const connection of [...connections]) connection.cut(how);
  };
  await listen(server, port);
  return {
    host,
    port,
    url: `redis://${host}:${port}`,
    get openConnections() {
      return [...connections].filter((connection) => connection.isOpen).length;
    },
    forwarded: (command) => state.forwarded.get(command.toUpperCase()) ?? 0,
    next: (match, fault) => state.faults.add(match, fault),
    setMode: async (mode) => {
      state.mode = mode;
      if (mode === 'refuse') {
        const closed = close(server);
        cutAll('reset');
        await closed;
      } else if (!server.listening) await listen(server, port);
    },
    delayReplies: (ms) => {
      state.delayMs = ms;
    },
    cutAll,
    stop: async () => {
      const closed = close(server);
      for (const connection of [...connections]) connection.destroy();
      await closed;
    },
  };
}

const host = '127.0.0.1';

async function listen(server: Server, port: number): Promise<void> {
  server.listen({ port, host });
  await once(server, 'listening');
}

async function close(server: Server): Promise<void> {
  if (!server.listening) return;
  server.close();
  await once(server, 'close');
}
