// Random calls of every script of the bus, with the types that its arguments have.
import fc from 'fast-check';
import { textToBytes } from '../../../src/base/byteText';
import { consumerName, entryId, groupName, streamKey } from '../../../src/bus/ids';
import type { Script, ScriptArgument } from '../../../src/bus/scripts/script';
import { deadLetter } from '../../../src/bus/scripts/deadLetter';
import type { PendingGuard } from '../../../src/bus/scripts/guard';
import { guardedAcknowledge, guardedClaim, handOver, reapConsumer } from '../../../src/bus/scripts/pending';
import { removeGroup } from '../../../src/bus/scripts/group';
import { idempotencyAbandon, idempotencyBegin, idempotencyComplete } from '../../../src/bus/scripts/idempotency';
import { recordJournal } from '../../../src/bus/scripts/journal';
import { replay, replayToGroup } from '../../../src/bus/scripts/replay';
import { heartbeat, release, retryLater } from '../../../src/bus/scripts/settle';
import { acknowledgeDelete, deleteEntries, publishDeduplicated, safeTrim } from '../../../src/bus/scripts/stream';
import { claimDue, reclaim, recoverOwn } from '../../../src/bus/scripts/takeOver';

/** A script with its arguments as EVAL takes them, behind the text. */
export interface ScriptCall {
  readonly name: string;
  readonly text: string;
  readonly args: readonly Buffer[];
}

const id = fc.constantFrom('1-1', '2-1', '3-1', '4-1', '5-1', '6-1', '1-1', '2-1', '7-0').map(entryId);
const ids = fc.array(id, { minLength: 1, maxLength: 5 });
const usually = <Value>(value: Value, ...others: Value[]): fc.Arbitrary<Value> =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(value) }, fc.constantFrom(...others));
const stream = usually('s1', 's2', 'text').map(streamKey);
const deadStream = usually('s2', 's1', 'text').map(streamKey);
const target = deadStream;
const group = usually('g1', 'g2', 'none').map(groupName);
const consumer = fc
  .oneof({ weight: 6, arbitrary: fc.constant('ann') }, fc.constantFrom('bob', 'cy', ''))
  .map(consumerName);
const idle = fc.constantFrom(0, 50_000, 200_000);
const deliveries = fc.constantFrom(1, 2, 3, 5);
const fields = fc
  .array(
    fc.constantFrom('a', 'dl.id', 'dl.replays', '1-0', '2', '').map((word) => Buffer.from(word)),
    { minLength: 1, maxLength: 4 },
  )
  .map((words) => words.flatMap((word) => [word, word]));

/** Guards whose ages are far from those that entries have. */
const fullGuard: fc.Arbitrary<PendingGuard> = fc.record(
  {
    owner: consumer,
    minIdleMs: idle,
    deliveries: fc.oneof(
      deliveries.map((exactly) => ({ exactly })),
      deliveries.map((atLeast) => ({ atLeast })),
    ),
    deliveredUntilMs: fc.constantFrom(1, 9_999_999_999_999),
  },
  { requiredKeys: [] },
);
const guard = fc.oneof(fc.constant<PendingGuard>({}), fullGuard);
const guarded = fc.record({ stream, group, items: fc.array(fc.record({ id, guard }), { minLength: 1, maxLength: 4 }) });
const owned = { stream, group, consumer };
const lease = { key: usually('marker1', 'marker2', 's1', 'text').map(streamKey), token: fc.constantFrom('a', 'b', '') };
const page = {
  from: id,
  scan: fc.constantFrom(1, 3, 100),
  limit: fc.constantFrom(1, 2, 50),
  busy: fc.array(id, { maxLength: 2 }),
};
const reason = fc.constantFrom('handler-error' as const, 'delivery-limit' as const);

function calls<Arguments, Reply>(
  script: Script<Arguments, Reply>,
  args: fc.Arbitrary<Arguments>,
): fc.Arbitrary<ScriptCall> {
  return args.map((one) => {
    const keys = script.keys(one);
    return {
      name: script.name,
      text: script.text,
      args: [Buffer.from(String(keys.length)), ...keys.map(textToBytes), ...script.argv(one).map(toBytes)],
    };
  });
}

function toBytes(argument: ScriptArgument): Buffer {
  return Buffer.isBuffer(argument) ? argument : textToBytes(String(argument));
}

/** A call of any script. */
export const scriptCall: fc.Arbitrary<ScriptCall> = fc.oneof(
  calls(
    deadLetter,
    fc.record({
      source: stream,
      target,
      group,
      items: fc.array(
        fc.record(
          {
            id,
            guard,
            reason,
            errorType: fc.constant('Error'),
            errorMessage: fc.constant('bad'),
            consumer,
            deliveries,
          },
          { requiredKeys: ['id', 'guard', 'reason', 'errorType', 'errorMessage'] },
        ),
        { minLength: 1, maxLength: 3 },
      ),
    }),
  ),
  calls(
    replay,
    fc.record({
      deadLetters: deadStream,
      target: stream,
      makeStream: fc.boolean(),
      items: fc.array(fc.record({ deadId: id, fields }, { requiredKeys: ['deadId'] }), { minLength: 1, maxLength: 3 }),
    }),
  ),
  calls(
    replayToGroup,
    fc.record({
      deadLetters: deadStream,
      stream,
      group,
      consumer,
      idleMs: idle,
      items: fc.array(fc.record({ deadId: id, entry: id }), { minLength: 1, maxLength: 3 }),
    }),
  ),
  calls(guardedAcknowledge, guarded),
  calls(
    guardedClaim,
    fc
      .tuple(
        guarded,
        fc.record(
          {
            consumer,
            count: fc.oneof(
              fc.constantFrom('keep' as const, 'increment' as const),
              deliveries.map((set) => ({ set })),
            ),
            idleMs: idle,
          },
          { requiredKeys: ['count'] },
        ),
      )
      .map(([one, options]) => ({ ...one, ...options })),
  ),
  calls(
    handOver,
    fc.record({
      stream,
      group,
      from: consumer,
      to: consumer,
      minIdleMs: idle,
      start: id,
      count: fc.constantFrom(1, 2, 100),
    }),
  ),
  calls(reapConsumer, fc.record({ ...owned, minIdleMs: idle })),
  calls(removeGroup, fc.record({ stream, group, minIdleMs: idle, consumers: fc.array(consumer, { maxLength: 3 }) })),
  calls(
    retryLater,
    fc.record({ ...owned, retries: fc.array(fc.record({ id, idleMs: idle }), { minLength: 1, maxLength: 4 }) }),
  ),
  calls(release, fc.record({ ...owned, idleMs: idle, ids })),
  calls(heartbeat, fc.record({ ...owned, ids })),
  calls(reclaim, fc.record({ ...owned, ...page, maxDeliveries: deliveries, minIdleMs: idle })),
  calls(claimDue, fc.record({ ...owned, maxDeliveries: deliveries, minIdleMs: idle, ids })),
  calls(
    recoverOwn,
    fc.record({ ...owned, ...page, maxDeliveries: deliveries, countDelivery: fc.boolean(), minIdleMs: idle }),
  ),
  calls(
    recordJournal,
    fc.record({
      journal: target,
      maxLength: fc.constantFrom(1, 100),
      writer: fc.record({
        group,
        consumer,
        host: fc.constantFrom('host', ''),
        pid: fc.constantFrom(1, 4_000_000),
        version: fc.constantFrom('1.0', ''),
      }),
      hereMs: fc.constant(1000),
      records: fc.array(
        fc.record({
          event: fc.constantFrom('delivered' as const, 'failed' as const),
          ids: fc.constantFrom('1-1', '1-1,2-1'),
          attempts: fc.constantFrom('', '1', '1,2'),
          durations: fc.constantFrom('', '12', '0,,3'),
          time: fc.constantFrom({ hereMs: 1000 }, { hereMs: 995 }, { serverMs: 0 }, { serverMs: 951_782_399_999 }),
          error: fc.option(
            fc.record({
              type: fc.constantFrom('Error', ''),
              message: fc.constantFrom('a b\n', ''),
              stack: fc.constantFrom('at x\nat y', ''),
            }),
            { nil: undefined },
          ),
        }),
        { maxLength: 4 },
      ),
    }),
  ),
  calls(idempotencyBegin, fc.record({ ...lease, leaseMs: fc.constant(1_000_000) })),
  calls(idempotencyComplete, fc.record({ ...lease, ttlMs: fc.constant(1_000_000) })),
  calls(idempotencyAbandon, fc.record(lease)),
  calls(acknowledgeDelete, fc.record({ stream, group, ids, hasAckDelete: fc.constant(false) })),
  calls(deleteEntries, fc.record({ stream, ids })),
  calls(
    safeTrim,
    fc.record(
      {
        stream,
        policy: fc.oneof(
          fc.constantFrom(0, 1, 3).map((maxLength) => ({ maxLength })),
          id.map((minId) => ({ minId })),
        ),
        step: fc.constantFrom(1, 2, 1000),
      },
      { requiredKeys: ['stream', 'policy'] },
    ),
  ),
  calls(
    publishDeduplicated,
    fc.record(
      {
        stream: target,
        marker: fc.constantFrom('marker1', 'marker2').map(streamKey),
        windowMs: fc.constant(1_000_000),
        makeStream: fc.boolean(),
        trim: fc.record({
          by: fc.constant('MAXLEN' as const),
          bound: fc.constantFrom('1', '2'),
          approximate: fc.boolean(),
        }),
        fields,
      },
      { requiredKeys: ['stream', 'marker', 'windowMs', 'makeStream', 'fields'] },
    ),
  ),
);
