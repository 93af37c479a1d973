import assert from 'node:assert/strict';
import { readDeadLetter, streamKey, type StreamPort } from '../../../src/bus';
import { readJournalEntry } from '../../../src/bus/history/readJournalEntry';
import { sample } from '../../../src/worker/sample/sampleNames';
import { eventually } from '../../support/eventually';

/** Asserts that the server holds the sample in every state that the extension tells apart, and that it moves. */
export async function assertSample(port: StreamPort): Promise<void> {
  const groupNamed = async (
    key: typeof sample.orders,
    name: string,
  ): Promise<{ pending: number; lag: number | null }> => {
    const group = (await port.groupInfos(key)).find((info) => info.name === name);
    assert.ok(group, `${key} has the group ${name}`);
    return { pending: group.pending, lag: group.lag ?? null };
  };

  assert.ok(((await groupNamed(sample.orders, 'analytics')).lag ?? 0) >= 150, 'a slow group lags');
  assert.equal(
    (await groupNamed(sample.audit, 'siem')).lag,
    await port.length(sample.audit),
    'nobody reads the audit log',
  );

  const [oldest] = await port.pending(sample.orders, sample.shipping.group, {
    from: 'min',
    to: 'max',
    count: 1,
    consumer: sample.shipping.stuck,
  });
  assert.ok((oldest?.idleMs ?? 0) >= 41 * 60_000, 'a consumer has been stuck for 41 minutes');
  assert.equal(oldest?.deliveryCount, 4);

  const [lost] = await port.pending(sample.readings, sample.alerts.group, { from: 'min', to: 'max', count: 1 });
  assert.ok(lost);
  assert.deepEqual(
    await port.range(sample.readings, { from: lost.id, to: lost.id, count: 1 }),
    [],
    'its message is gone',
  );

  const dead = await port.range(streamKey('shop:orders:dlq'), { from: 'min', to: 'max', count: 100 });
  const reasons = new Set(dead.map((entry) => readDeadLetter(entry).failure.reason));
  assert.deepEqual([...reasons].sort(), ['handler-error', 'invalid', 'timeout']);

  const journal = streamKey('shop:orders:journal');
  await eventually(
    async () => {
      const entries = await port.range(journal, { from: 'min', to: 'max', count: 1000 });
      const events = entries.flatMap((entry) => readJournalEntry(entry) ?? assert.fail('an entry that is no event'));
      return events.some(({ event }) => event === 'delivered') && events.some(({ event }) => event === 'acknowledged');
    },
    { what: 'the journal to be kept' },
  );

  const length = await port.length(sample.orders);
  await eventually(async () => (await port.length(sample.orders)) > length + 2, { what: 'orders to be published' });
  await eventually(async () => (await groupNamed(sample.payments, 'ledger')).pending > 0, {
    what: 'the poison to be pending',
  });
}
