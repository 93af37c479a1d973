import { randomBytes } from 'node:crypto';
import { systemClock } from '../../base/clock';
import { connectRedis, createBus, streamKey } from '../../bus';
import type { Bus, HandlerLog, RedisPort, StreamKey, StreamPort } from '../../bus';
import { EmbeddedServer } from '../../embedded';
import { isEmbedded } from '../app/openServer';
import { createGatewayApp } from '../gateway/gatewayApp';
import { defaultGroup, runsTopic } from '../runs/runsStream';
import type { RunStore } from '../runs/runStore';

/** A worker's way to the server, which can be torn away as by the death of its process. */
export interface Actor {
  readonly name: string;
  readonly bus: Bus;
  /** From here on nothing that it does reaches the server. */
  crash(): Promise<void>;
  close(): Promise<void>;
}

/** Where the checks take place: a server, a store, a gateway, and streams that nobody else uses. */
export interface Stage {
  readonly stream: StreamKey;
  readonly group: string;
  readonly session: string;
  readonly store: RunStore;
  /** Looks, and is no worker. */
  readonly port: StreamPort;
  readonly bus: Bus;
  readonly log: HandlerLog;
  openActor(name: string): Promise<Actor>;
  /** Posts a run to the gateway; a key is used once. */
  post(key: string, input: string): Promise<{ readonly runId: string; readonly duplicated: boolean }>;
  /** Removes everything that the checks made. */
  clear(): Promise<void>;
}

/** An environment that nobody else has; in braces, so that on a cluster all its keys are in one slot. */
export function selftestEnvironment(): string {
  return `{selftest-${randomBytes(4).toString('hex')}}`;
}

/** Sets the stage. Rejects when the server cannot be reached. */
export async function openStage(url: string, store: RunStore, env: string): Promise<Stage> {
  const session = 'selftest';
  const server = isEmbedded(url) ? new EmbeddedServer({ clock: systemClock() }) : undefined;
  const connectServer = (): Promise<RedisPort> => connectRedis({ url, clientName: 'redis-streams-selftest' });
  const connect = async (client: string): Promise<StreamPort> =>
    server ? server.process(client).openPort() : connectServer();
  const redis = server ? undefined : await connectServer();
  const port = redis ?? (await connect('observer'));
  const bus = createBus({ port, env });
  const stream = bus.keyOf(runsTopic);
  const log = silent;
  const runIds: string[] = [];
  const app = createGatewayApp({ store, bus, log, token: undefined, limiter: undefined, maxBodyBytes: 65_536 });

  return {
    stream,
    group: defaultGroup,
    session,
    store,
    port,
    bus,
    log,
    openActor: async (actor) => {
      const own = await connect(actor);
      const clock = server?.process(actor).clock;
      const ownBus = createBus({ port: own, env, ...(clock ? { clock } : {}) });
      return {
        name: actor,
        bus: ownBus,
        crash: async () => {
          if (server) server.crash(actor);
          else await own.close();
        },
        close: () => ownBus.close({ timeoutMs: 0 }),
      };
    },
    post: async (key, input) => {
      const body = JSON.stringify({ sessionId: session, idempotencyKey: key, input });
      const headers = { 'content-type': 'application/json' };
      const response = await app.request('/runs', { method: 'POST', headers, body });
      const answer = (await response.json()) as { readonly runId?: string; readonly duplicated?: boolean };
      if (response.status !== 202 || answer.runId === undefined)
        throw new Error(`The gateway answered ${response.status} to a run`);
      runIds.push(answer.runId);
      return { runId: answer.runId, duplicated: answer.duplicated === true };
    },
    clear: async () => {
      try {
        await store.forgetSession(session);
        const companions = [`${stream}:dlq`, `${stream}:journal`, ...runIds.map((id) => `${stream}:dedupe:${id}`)];
        if (redis) await removeKeys(redis, [stream, ...companions.map(streamKey)]);
      } finally {
        await port.close();
      }
    },
  };
}

/** DEL of the keys that the self test made, which nothing else in the worker ever does. */
async function removeKeys(redis: RedisPort, keys: readonly StreamKey[]): Promise<void> {
  const [first] = keys;
  if (first === undefined) return;
  const transaction = await redis.openTransaction(first);
  try {
    await transaction.execute([{ command: 'DEL', args: keys }]);
  } finally {
    transaction.close();
  }
}

const silent: HandlerLog = { info: () => undefined, warn: () => undefined, error: () => undefined };
