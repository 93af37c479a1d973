import {
  companionKey,
  deadLetterFields,
  entryIdOf,
  minEntryId,
  type DeadLetterReason,
  type Entry,
  type EntryFields,
  type EntryId,
  type StreamKey,
  type StreamPort,
} from '../../bus';
import type { SampleEvents } from './sampleEvents';
import { sample } from './sampleNames';

const minute = 60_000;
const hour = 60 * minute;

/**
 * Fills an empty server with the sample's past: streams with hours of entries, groups in different health, dead letters of
 * three kinds, pending entries whose messages are gone. Returns false and changes nothing when the sample's streams exist.
 */
export async function seedSample(port: StreamPort, events: SampleEvents): Promise<boolean> {
  if ((await port.length(sample.orders)) > 0) return false;
  const nowMs = await port.serverTimeMs();
  await seedOrders(port, events, nowMs);
  await seedPayments(port, events, nowMs);
  await seedUsers(port, events, nowMs);
  await seedReadings(port, events, nowMs);
  await seedAudit(port, events, nowMs);
  return true;
}

async function seedOrders(port: StreamPort, events: SampleEvents, nowMs: number): Promise<void> {
  const ids = await addPast(
    port,
    sample.orders,
    { count: 900, fromMs: nowMs - 6 * hour, toMs: nowMs - minute },
    (atMs) => events.order(atMs),
  );
  await readAll(port, sample.orders, sample.billing.group, sample.billing.consumers[0], ids.length, ids.slice(-2));
  await readAll(port, sample.orders, sample.analytics.group, sample.analytics.consumer, ids.length - 180, []);
  const stuck = ids.slice(-130, -123);
  await readAll(port, sample.orders, sample.shipping.group, sample.shipping.stuck, ids.length, stuck);
  await port.claim(sample.orders, sample.shipping.group, sample.shipping.stuck, stuck, {
    minIdleMs: 0,
    count: 'keep',
    idleMs: 41 * minute,
  });
  await port.claim(sample.orders, sample.shipping.group, sample.shipping.stuck, stuck.slice(0, 1), {
    minIdleMs: 0,
    count: { set: 4 },
    idleMs: 41 * minute,
  });
  await seedDeadLetters(port, ids, nowMs);
}

async function seedDeadLetters(port: StreamPort, ids: readonly EntryId[], nowMs: number): Promise<void> {
  const kinds: readonly { readonly reason: DeadLetterReason; readonly type: string; readonly message: string }[] = [
    { reason: 'handler-error', type: 'TypeError', message: "Cannot read properties of undefined (reading 'zip')" },
    { reason: 'timeout', type: 'HandlerTimeoutError', message: 'The handler did not finish within 30000 ms' },
    { reason: 'invalid', type: 'DecodeError', message: 'payload is not valid JSON: Unexpected end of JSON input' },
  ];
  const { key } = companionKey(sample.orders, 'dlq', { isCluster: (await port.capabilities()).isCluster });
  for (let index = 0; index < 9; index += 1) {
    const kind = kinds[index % kinds.length];
    const id = ids[60 + index * 70];
    const [died] = id === undefined ? [] : await port.range(sample.orders, { from: id, to: id, count: 1 });
    if (!kind || !died) continue;
    const atMs = nowMs - (9 - index) * 13 * minute;
    const entry: Entry = kind.reason === 'invalid' ? { id: died.id, fields: cutPayload(died.fields) } : died;
    const fields = deadLetterFields(entry, {
      stream: sample.orders,
      group: sample.shipping.group,
      consumer: sample.shipping.alive,
      reason: kind.reason,
      errorType: kind.type,
      errorMessage: kind.message,
      deliveries: 3,
      atMs,
    });
    await port.add(key, fields, { id: entryIdOf({ ms: BigInt(atMs), seq: 0n }) });
  }
}

async function seedPayments(port: StreamPort, events: SampleEvents, nowMs: number): Promise<void> {
  const ids = await addPast(
    port,
    sample.payments,
    { count: 300, fromMs: nowMs - 3 * hour, toMs: nowMs - minute },
    (atMs) => events.payment(atMs),
  );
  await readAll(port, sample.payments, sample.ledger.group, sample.ledger.consumer, ids.length, []);
}

async function seedUsers(port: StreamPort, events: SampleEvents, nowMs: number): Promise<void> {
  const ids = await addPast(
    port,
    sample.users,
    { count: 80, fromMs: nowMs - 20 * hour, toMs: nowMs - 3 * minute },
    (atMs) => events.user(atMs),
  );
  await readAll(port, sample.users, sample.mailer.group, sample.mailer.consumer, ids.length, []);
}

async function seedReadings(port: StreamPort, events: SampleEvents, nowMs: number): Promise<void> {
  const ids = await addPast(port, sample.readings, { count: 500, fromMs: nowMs - hour, toMs: nowMs - 1000 }, (atMs) =>
    events.reading(atMs),
  );
  const lost = ids.slice(40, 45);
  await readAll(port, sample.readings, sample.alerts.group, sample.alerts.consumer, ids.length, lost);
  await port.claim(sample.readings, sample.alerts.group, sample.alerts.consumer, lost, {
    minIdleMs: 0,
    count: 'keep',
    idleMs: 55 * minute,
  });
  await port.trim(sample.readings, { maxLength: 300, approximate: false });
}

async function seedAudit(port: StreamPort, events: SampleEvents, nowMs: number): Promise<void> {
  await port.createGroup(sample.audit, sample.siem.group, minEntryId, { makeStream: true });
  await addPast(port, sample.audit, { count: 120, fromMs: nowMs - 9 * hour, toMs: nowMs - 2 * minute }, (atMs) =>
    events.audit(atMs),
  );
}

/** Adds entries whose ids lie in the past, evenly spread; a few share their millisecond. */
async function addPast(
  port: StreamPort,
  key: StreamKey,
  span: { readonly count: number; readonly fromMs: number; readonly toMs: number },
  make: (atMs: number) => EntryFields,
): Promise<readonly EntryId[]> {
  const ids = Array.from({ length: span.count }, (_, index) => {
    const step = (span.toMs - span.fromMs) / span.count;
    const isTwin = index % 25 === 24;
    const ms = BigInt(Math.floor(span.fromMs + step * (isTwin ? index - 1 : index)));
    return entryIdOf({ ms, seq: isTwin ? 1n : 0n });
  });
  await Promise.all(ids.map((id) => port.add(key, make(Number(id.slice(0, id.indexOf('-')))), { id })));
  return ids;
}

/** Lets a group read the first entries of a stream and acknowledge all of them but those that stay pending. */
async function readAll(
  port: StreamPort,
  key: StreamKey,
  group: Parameters<StreamPort['readGroup']>[1],
  consumer: Parameters<StreamPort['readGroup']>[2],
  count: number,
  staysPending: readonly EntryId[],
): Promise<void> {
  await port.createGroup(key, group, minEntryId);
  const delivered = await port.readGroup(key, group, consumer, { count });
  const done = delivered.map(({ id }) => id).filter((id) => !staysPending.includes(id));
  if (done.length > 0) await port.acknowledge(key, group, done);
}

function cutPayload(fields: EntryFields): EntryFields {
  return fields.map((value, index) => (index === fields.length - 1 ? value.subarray(0, value.length >> 1) : value));
}
