import assert from 'node:assert/strict';
import fc from 'fast-check';
import { companionCandidates, companionKey, readCompanionKey } from '../../src/bus/companionKeys';
import { streamKey } from '../../src/bus/ids';
import { hasHashTag, slotOf } from '../../src/bus/redis/slots';
import { bytesToText } from '../../src/base/byteText';

describe('hash slots', () => {
  it('are those that Redis Cluster computes', () => {
    // By CLUSTER KEYSLOT.
    assert.equal(slotOf('123456789'), 12739);
    assert.equal(slotOf('orders'), 105);
    assert.equal(slotOf(''), 0);
    assert.equal(slotOf('{user1000}.following'), slotOf('user1000'));
    assert.equal(slotOf('foo{}{bar}'), slotOf('foo{}{bar}'));
    assert.notEqual(slotOf('foo{}{bar}'), slotOf('bar'));
    assert.equal(slotOf('foo{{bar}}zap'), slotOf('{bar'));
    assert.equal(slotOf('foo{bar}{zap}'), slotOf('bar'));
  });

  it('see a tag only between the first brace and the next closing one, and only when it is not empty', () => {
    assert.equal(hasHashTag('{a}b'), true);
    assert.equal(hasHashTag('a{b}'), true);
    assert.equal(hasHashTag('{}a{b}'), false);
    assert.equal(hasHashTag('a}b{'), false);
  });
});

describe('a companion key', () => {
  const cluster = { isCluster: true };

  it('is the plain suffix on a standalone server, whatever the name', () => {
    for (const name of ['orders', '{orders}:x', 'a}b', ''])
      assert.deepEqual(companionKey(streamKey(name), 'dlq', { isCluster: false }), {
        key: `${name}:dlq`,
        sameSlot: true,
      });
  });

  it('wraps a name without a hash tag on a cluster', () => {
    assert.deepEqual(companionKey(streamKey('orders'), 'dlq', cluster), { key: '{orders}:dlq', sameSlot: true });
    assert.deepEqual(companionKey(streamKey('a{b'), 'journal', cluster), { key: '{a{b}:journal', sameSlot: true });
  });

  it('keeps the hash tag that a name has', () => {
    assert.deepEqual(companionKey(streamKey('{orders}:x'), 'dlq', cluster), { key: '{orders}:x:dlq', sameSlot: true });
    assert.deepEqual(companionKey(streamKey('{orders}'), 'journal', cluster), {
      key: '{orders}:journal',
      sameSlot: true,
    });
  });

  it('is known to be in another slot where no form can share it', () => {
    for (const name of ['a}b', 'a{}b', '{}x', '']) {
      const companion = companionKey(streamKey(name), 'dlq', cluster);
      assert.deepEqual(companion, { key: `${name}:dlq`, sameSlot: false });
      assert.notEqual(slotOf(companion.key), slotOf(name));
    }
  });

  it('says truly whether it shares the slot, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), fc.constantFrom('dlq', 'journal'), (bytes, kind) => {
        const stream = streamKey(bytesToText(bytes).replaceAll('a', '{').replaceAll('b', '}'));
        const { key, sameSlot } = companionKey(stream, kind, cluster);
        assert.equal(sameSlot, slotOf(key) === slotOf(stream));
        assert.ok(companionCandidates(stream, kind).includes(key));
        assert.ok(readCompanionKey(key)?.streams.includes(stream) ?? stream === '');
      }),
    );
  });
});

describe('reading a key as a companion', () => {
  it('names the streams that it may belong to', () => {
    assert.deepEqual(readCompanionKey(streamKey('orders:dlq')), { kind: 'dlq', streams: ['orders'] });
    assert.deepEqual(readCompanionKey(streamKey('{orders}:dlq')), { kind: 'dlq', streams: ['{orders}', 'orders'] });
    assert.deepEqual(readCompanionKey(streamKey('orders.dlq')), { kind: 'dlq', streams: ['orders'] });
    assert.deepEqual(readCompanionKey(streamKey('orders:deadletter')), { kind: 'dlq', streams: ['orders'] });
    assert.deepEqual(readCompanionKey(streamKey('orders:journal')), { kind: 'journal', streams: ['orders'] });
  });

  it('leaves other keys alone', () => {
    for (const key of ['orders', ':dlq', 'dlq', 'orders:dlq:x', ''])
      assert.equal(readCompanionKey(streamKey(key)), undefined);
  });
});
