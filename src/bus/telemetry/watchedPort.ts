import type { EntryId } from '../ids';
import type { StreamPort, StreamReader } from '../port';
import { deadLetter } from '../scripts/deadLetter';
import type { Script } from '../scripts/script';
import { release, retryLater } from '../scripts/settle';
import { acknowledgeDelete } from '../scripts/stream';
import { claimDue, reclaim, recoverOwn } from '../scripts/takeOver';
import type { TakeOver } from '../scripts/takeOver';
import { channels } from './channels';
import type { SettleMessage } from './channels';
import type { ConsumerWatch } from './consumerWatch';
import { errorKind } from './errorKind';
import { operations } from './names';

/**
 * A port whose calls for one consumer are watched: acknowledging, retrying, giving back and dead-lettering, taking over, reading. It makes
 * every call in the tick in which it was asked, so that calls still travel together.
 */
export function watchedPort(port: StreamPort, watch: ConsumerWatch): StreamPort {
  return {
    capabilities: () => port.capabilities(),
    serverTimeMs: (key) => port.serverTimeMs(key),
    add: (key, fields, options) => port.add(key, fields, options),
    range: (key, query) => port.range(key, query),
    length: (key) => port.length(key),
    delete: (key, ids) => port.delete(key, ids),
    trim: (key, policy) => port.trim(key, policy),
    createGroup: (key, group, start, options) => port.createGroup(key, group, start, options),
    destroyGroup: (key, group) => port.destroyGroup(key, group),
    readGroup: (key, group, consumer, options) => port.readGroup(key, group, consumer, options),
    acknowledge: (key, group, ids) =>
      watchSettle(watch, { operation: 'ack', ids }, () => port.acknowledge(key, group, ids)),
    claim: (key, group, consumer, ids, options) => port.claim(key, group, consumer, ids, options),
    autoClaim: (key, group, consumer, options) => port.autoClaim(key, group, consumer, options),
    pending: (key, group, query) => port.pending(key, group, query),
    pendingSummary: (key, group) => port.pendingSummary(key, group),
    streamInfo: (key) => port.streamInfo(key),
    groupInfos: (key) => port.groupInfos(key),
    consumerInfos: (key, group) => port.consumerInfos(key, group),
    run: (script, args) => {
      const call = (): ReturnType<typeof port.run<typeof args, ReturnType<typeof script.reply>>> =>
        port.run(script, args);
      const settle = settles.get(script.sha1);
      if (settle) return watchSettle(watch, settle(args), call);
      return takesOver.has(script.sha1) ? watchTakeOver(watch, call) : call();
    },
    openReader: async () => watchedReader(await port.openReader(), watch),
    close: () => port.close(),
  };
}

/** A call that settles messages. */
interface Settle {
  readonly operation: 'ack' | 'nack' | 'release' | 'deadLetter';
  readonly ids: readonly EntryId[];
  readonly reason?: string | undefined;
}

/** Scripts that settle, by their hash, and how to tell what. */
const settles = new Map<string, (args: unknown) => Settle>([
  settling(acknowledgeDelete, ({ ids }) => ({ operation: 'ack', ids })),
  settling(retryLater, ({ retries }) => ({ operation: 'nack', ids: retries.map(({ id }) => id) })),
  settling(release, ({ ids }) => ({ operation: 'release', ids })),
  settling(deadLetter, ({ items }) => {
    const reasons = new Set(items.map(({ reason }) => reason));
    const [reason] = reasons;
    return { operation: 'deadLetter', ids: items.map(({ id }) => id), reason: reasons.size === 1 ? reason : undefined };
  }),
]);

/** Scripts that take messages over, by their hash. */
const takesOver: ReadonlySet<string> = new Set([reclaim, claimDue, recoverOwn].map(({ sha1 }) => sha1));

/** A script is found by its hash, so that what it is called with has the type of its arguments. */
function settling<Arguments, Reply>(
  script: Script<Arguments, Reply>,
  tell: (args: Arguments) => Settle,
): [string, (args: unknown) => Settle] {
  return [script.sha1, (args) => tell(args as Arguments)];
}

function watchSettle<T>(watch: ConsumerWatch, settle: Settle, call: () => Promise<T>): Promise<T> {
  const { identity, meters, tracing } = watch;
  const isTold = channels.settle.hasSubscribers;
  if (!meters && !tracing && !isTold) return call();
  const { operation, ids, reason } = settle;
  const beganMs = performance.now();
  const only = ids.length === 1 ? ids[0] : undefined;
  const of = watch.takeSpans(ids);
  const span = tracing?.call({ ...identity, operation, count: ids.length, id: only, reason, of });
  const ended = (outcome: string): void => {
    const durationMs = performance.now() - beganMs;
    meters?.operation(operation, outcome).record(durationMs / 1000);
    span?.end(outcome === ok ? {} : { error: outcome });
    if (!isTold) return;
    const message: SettleMessage = { ...identity, operation: operations[operation].name, ids, durationMs, outcome };
    channels.settle.publish(message);
  };
  return observed(span ? span.run(call) : call(), ended);
}

/** A look that found nothing is no span: there is one at every interval. */
function watchTakeOver<T>(watch: ConsumerWatch, call: () => Promise<T>): Promise<T> {
  const { identity, meters, tracing } = watch;
  if (!meters && !tracing) return call();
  const beganMs = performance.now();
  const startMs = Date.now();
  return observed(call(), (outcome, reply) => {
    meters?.operation('reclaim', outcome).record((performance.now() - beganMs) / 1000);
    const taken = (reply as TakeOver | undefined)?.taken ?? [];
    if (outcome === ok && taken.length === 0) return;
    const only = taken.length === 1 ? taken[0]?.id : undefined;
    tracing
      ?.call({ ...identity, operation: 'reclaim', count: taken.length, id: only, of: [], startMs })
      ?.end(outcome === ok ? {} : { error: outcome });
  });
}

function watchedReader(reader: StreamReader, { meters }: ConsumerWatch): StreamReader {
  if (!meters) return reader;
  return {
    readGroup: (key, group, consumer, options) => {
      const beganMs = performance.now();
      return observed(reader.readGroup(key, group, consumer, options), (outcome) => {
        meters.operation('read', outcome).record((performance.now() - beganMs) / 1000);
      });
    },
    read: (key, after, options) => reader.read(key, after, options),
    interrupt: () => reader.interrupt(),
    close: () => {
      reader.close();
    },
  };
}

const ok = 'ok';

/** The call's own promise; how it ended is told besides. */
function observed<T>(call: Promise<T>, ended: (outcome: string, reply?: T) => void): Promise<T> {
  call.then(
    (reply) => {
      ended(ok, reply);
    },
    (error: unknown) => {
      ended(errorKind(error));
    },
  );
  return call;
}
