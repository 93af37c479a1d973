/**
 * The RESP server: the engine as a Redis that any client connects to, on loopback only.
 *
 * It speaks RESP2 and RESP3, keeps everything in memory and never writes to disk. Limits on clients, request size and waiting output
 * hold for each connection; malformed input ends that connection and no other. Tests: test/embedded/respServer.test.ts.
 */
import { createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import type { Engine } from '../engine';
import type { ConnectionLimits } from './connection';
import { RespConnection } from './connection';

/** How a server listens. */
export interface RespServerOptions {
  readonly engine: Engine;
  /** 0 or left out: a free port. */
  readonly port?: number;
  readonly maxClients?: number;
  readonly limits?: Partial<ConnectionLimits>;
}

/** A running server. */
export interface RespServer {
  readonly host: string;
  readonly port: number;
  readonly clientCount: number;
  /** Drops every client and stops listening. */
  close(): Promise<void>;
}

const host = '127.0.0.1';
const defaultMaxClients = 1000;
const defaultLimits: ConnectionLimits = {
  requestBytes: 64 * 1024 * 1024,
  argumentCount: 1024 * 1024,
  outputBytes: 256 * 1024 * 1024,
};

/** Starts a server on loopback; rejects when the port is taken. */
export async function startRespServer(options: RespServerOptions): Promise<RespServer> {
  const { engine } = options;
  const limits = { ...defaultLimits, ...options.limits };
  const connections = new Set<RespConnection>();
  const server = createServer((socket) => {
    if (connections.size >= (options.maxClients ?? defaultMaxClients)) {
      engine.stats.rejected += 1;
      socket.on('error', () => socket.destroy());
      socket.end('-ERR max number of clients reached\r\n');
      return;
    }
    const connection: RespConnection = new RespConnection(engine, socket, limits, () => connections.delete(connection));
    connections.add(connection);
  });
  const port = await listen(server, options.port ?? 0);
  engine.options.identity.port = port;
  return {
    host,
    port,
    get clientCount() {
      return connections.size;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const connection of connections) connection.destroy();
      }),
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('The RESP server has no port after listening');
  return address.port;
}
