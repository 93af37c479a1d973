// What the figures of groups, consumers and pending entries are said to mean.
import assert from 'node:assert/strict';
import { englishLocalizer } from '../../src/base/localize';
import { consumerName, entryId, groupName } from '../../src/bus';
import type { GroupFacts } from '../../src/tree/facts';
import { observeStandstill } from '../../src/tree/standstill';
import { consumerVerdict, groupVerdict, pendingVerdict } from '../../src/tree/verdicts';

const words = { l10n: englishLocalizer, locale: 'en' };
const nowMs = 1_700_000_000_000;

function group(facts: Partial<GroupFacts> = {}): GroupFacts {
  return {
    name: groupName('billing'),
    consumers: 1,
    pending: 0,
    lag: { kind: 'exact', value: 0, source: 'XINFO GROUPS' },
    lastDeliveredId: entryId('1-1'),
    oldestPending: null,
    serverTimeMs: nowMs,
    ...facts,
  };
}

const lag = (value: number): GroupFacts['lag'] => ({ kind: 'exact', value, source: 'XINFO GROUPS' });

describe('the verdict on a group', () => {
  it('is that it is up to date when nothing waits and nothing is pending', () => {
    assert.match(groupVerdict(group(), undefined, words) ?? '', /^Up to date/);
  });
  it('names how much waits to be acknowledged when all was delivered', () => {
    assert.match(groupVerdict(group({ pending: 1 }), undefined, words) ?? '', /; 1 waits to be acknowledged/);
    assert.match(groupVerdict(group({ pending: 1204 }), undefined, words) ?? '', /1,204 wait to be acknowledged/);
  });
  it('is that nobody is consuming without consumers, unless nothing waits', () => {
    assert.match(groupVerdict(group({ consumers: 0, lag: lag(3) }), undefined, words) ?? '', /^Nobody is consuming/);
    // They may have been deleted after they read everything.
    assert.match(
      groupVerdict(group({ consumers: 0 }), undefined, words) ?? '',
      /^The group has no consumers, and nothing/,
    );
  });
  it('says nothing of a group at work, nor of a lag that is not known', () => {
    assert.equal(groupVerdict(group({ lag: lag(3), pending: 2 }), undefined, words), undefined);
    const unknown = { kind: 'unknown', reason: 'deleted' } as const;
    assert.equal(groupVerdict(group({ lag: unknown }), undefined, words), undefined);
  });
});

describe('a standstill of a group', () => {
  const later = (minutes: number, facts: Partial<GroupFacts>): GroupFacts =>
    group({ serverTimeMs: nowMs + minutes * 60_000, ...facts });

  it('is told with its length and growth when nothing was delivered while entries came', () => {
    let seen = observeStandstill(undefined, group({ lag: lag(10) }));
    seen = observeStandstill(seen, later(5, { lag: lag(1000) }));
    seen = observeStandstill(seen, later(14, { lag: lag(3130) }));
    assert.equal(
      groupVerdict(later(14, { lag: lag(3130) }), seen, words),
      'Nobody is consuming: no delivery for 14 min while the stream grew by 3,120, as observed here.',
    );
  });
  it('is none when something was delivered meanwhile, when nothing came, or when it was short', () => {
    const first = observeStandstill(undefined, group({ lag: lag(10) }));
    const cases = [
      later(14, { lag: lag(20), lastDeliveredId: entryId('2-1') }),
      later(14, { lag: lag(10) }),
      later(0.5, { lag: lag(20) }),
      later(14, { lag: { kind: 'unknown', reason: 'deleted' } }),
    ];
    for (const facts of cases) {
      assert.doesNotMatch(groupVerdict(facts, observeStandstill(first, facts), words) ?? '', /Nobody is consuming/);
    }
  });
});

describe('the verdict on a consumer', () => {
  const consumer = { name: consumerName('c'), pending: 5, idleMs: 0, serverTimeMs: nowMs };
  it('is that it probably does not run when it holds entries and was long idle, else none', () => {
    const long = { ...consumer, idleMs: 41 * 60_000, inactiveMs: 42 * 60_000 };
    assert.match(
      consumerVerdict(long, words) ?? '',
      /^Probably not running: it holds 5 pending entries and did nothing for 41 min/,
    );
    assert.match(consumerVerdict({ ...long, pending: 1 }, words) ?? '', /holds 1 pending entry and did/);
    assert.equal(consumerVerdict(consumer, words), undefined);
    assert.equal(consumerVerdict({ ...long, pending: 0 }, words), undefined);
  });
  it('does not call it gone on a server that tells only when it last got something', () => {
    const long = { ...consumer, idleMs: 41 * 60_000 };
    assert.match(
      consumerVerdict(long, words) ?? '',
      /^It holds 5 pending entries and got nothing for 41 min: .* or there/,
    );
    assert.match(consumerVerdict({ ...long, pending: 1 }, words) ?? '', /^It holds 1 pending entry and got/);
  });
});

describe('the verdict on a pending entry', () => {
  const pending = {
    id: entryId('1-1'),
    consumer: consumerName('c'),
    idleMs: 0,
    deliveryCount: 1,
    isGone: false,
    addedAtMs: undefined,
    serverTimeMs: nowMs,
  };
  it('is that its message is gone, or that its handler probably fails from three deliveries on, else none', () => {
    assert.match(pendingVerdict({ ...pending, isGone: true, deliveryCount: 9 }, words) ?? '', /^Its message is gone/);
    assert.match(pendingVerdict({ ...pending, deliveryCount: 3 }, words) ?? '', /^Delivered 3 times/);
    assert.equal(pendingVerdict({ ...pending, deliveryCount: 2 }, words), undefined);
  });
});
