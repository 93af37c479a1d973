import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono/tiny';
import { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A gateway that listens. */
export interface HttpServer {
  readonly url: string;
  /** Takes no new connection, lets requests come to their end for at most so long, then drops what is left. */
  close(timeoutMs: number): Promise<void>;
}

/** How long a client may take to send a request. */
const requestTimeoutMs = 10_000;

/** Serves an application over HTTP. Rejects, with the port, when it is taken. */
export async function serveHttp(app: Hono, host: string, port: number): Promise<HttpServer> {
  const server = createAdaptorServer({
    fetch: app.fetch,
    overrideGlobalObjects: false,
    serverOptions: {
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: requestTimeoutMs / 5,
      maxHeaderSize: 16_384,
    },
  });
  if (!(server instanceof Server)) throw new TypeError('Expected an HTTP/1 server');
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE';
      reject(isTaken ? new Error(`Port ${port} of ${host} is taken: give another --port, or 0 for a free one`) : error);
    });
    server.listen({ host, port }, resolve);
  });
  const { address, port: listening, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${listening}`,
    close: async (timeoutMs) => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => {
          resolve();
        });
      });
      server.closeIdleConnections();
      const deadline = new AbortController();
      const timeUp = sleep(timeoutMs, undefined, { signal: deadline.signal }).catch(() => undefined);
      await Promise.race([closed, timeUp]);
      deadline.abort();
      server.closeAllConnections();
      await closed;
    },
  };
}
