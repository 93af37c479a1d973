/**
 * What monitoring asks the worker over HTTP: `/metrics`, `/healthz`, `/readyz`. On loopback only, off unless a port is given.
 *
 * `answerMonitoring` is the whole of it but the server, for a process that has one already. Tests: `test/worker/telemetry.test.ts`.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { ConsumerHealth } from '../../bus';

/** What monitoring is told about. */
export interface Monitored {
  /** What `/metrics` writes. */
  readonly registry: Registry;
  /** How the consumers of this process are doing, by name; empty while there is none yet. */
  readonly consumers: () => Readonly<Record<string, ConsumerHealth>>;
  /** Whether the process is ready besides its consumers. Default: when it has one. */
  readonly isReady?: (() => boolean) | undefined;
}

/** An answer, for any server to send. */
export interface MonitoringAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** A server that answers monitoring. */
export interface MonitoringServer {
  readonly port: number;
  /** Stops listening and drops the connections that are open. */
  close(): Promise<void>;
}

/** Answers `/metrics`, `/healthz` or `/readyz`; undefined for any other path. */
export async function answerMonitoring(path: string, monitored: Monitored): Promise<MonitoringAnswer | undefined> {
  switch (path) {
    case '/metrics':
      return {
        status: 200,
        contentType: monitored.registry.contentType,
        body: await monitored.registry.metrics(),
      };
    case '/healthz':
      return healthAnswer(monitored, isAlive);
    case '/readyz':
      return healthAnswer(monitored, isReady);
    default:
      return undefined;
  }
}

/** Listens on loopback; port 0 takes a free one. Rejects when the port is taken. */
export function startMonitoringServer(port: number, monitored: Monitored): Promise<MonitoringServer> {
  const server = createServer((request, response) => {
    const send = ({ status, contentType, body }: MonitoringAnswer): void => {
      response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : body);
    };
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      send(textAnswer(405, 'Only GET\n'));
      return;
    }
    answerMonitoring(pathOf(request.url ?? '/'), monitored).then(
      (answer) => {
        send(answer ?? textAnswer(404, 'Here are /metrics, /healthz and /readyz\n'));
      },
      () => {
        send(textAnswer(500, 'Collecting failed\n'));
      },
    );
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, () => {
      server.off('error', reject);
      // A port that listens must not keep a worker alive that is done.
      server.unref();
      resolve({
        port: (server.address() as AddressInfo).port,
        close: () =>
          new Promise((closed) => {
            server.close(() => {
              closed();
            });
            server.closeAllConnections();
          }),
      });
    });
  });
}

/** What a request is for. Its target is whatever a client wrote, which need not be a URL. */
function pathOf(target: string): string {
  const base = 'http://loopback';
  return URL.canParse(target, base) ? new URL(target, base).pathname : target;
}

type Judge = (health: ConsumerHealth) => boolean;

/** A restart would not mend a server that is away, so that a consumer which tries to reconnect is alive. */
const isAlive: Judge = ({ status }) => status !== 'stalled' && status !== 'failed';

const isReady: Judge = ({ status }) => status === 'running';

function healthAnswer({ consumers, isReady: isReadyBesides }: Monitored, judge: Judge): MonitoringAnswer {
  const all = Object.entries(consumers());
  const isFine =
    all.every(([, health]) => judge(health)) && (judge === isAlive || (isReadyBesides?.() ?? all.length > 0));
  const told = all.map(([name, { status, lastProgressAgeMs, queued, inFlight, stuck, unsettled, reconnects }]) => [
    name,
    { status, lastProgressAgeMs, queued, inFlight, stuck, unsettled, reconnects },
  ]);
  return {
    status: isFine ? 200 : 503,
    contentType: 'application/json',
    body: `${JSON.stringify({ status: isFine ? 'ok' : 'unavailable', consumers: Object.fromEntries(told) as unknown })}\n`,
  };
}

function textAnswer(status: number, body: string): MonitoringAnswer {
  return { status, contentType: 'text/plain; charset=utf-8', body };
}
