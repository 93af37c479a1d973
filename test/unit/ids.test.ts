import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  compareEntryIds,
  entryId,
  entryIdOf,
  entryIdParts,
  entryIdTimeMs,
  isEntryId,
  maxEntryId,
  maxIdPart,
  minEntryId,
  nextEntryId,
  parseEntryId,
  previousEntryId,
} from '../../src/bus/ids';

const anyId = fc
  .record({ ms: fc.bigInt({ min: 0n, max: maxIdPart }), seq: fc.bigInt({ min: 0n, max: maxIdPart }) })
  .map(entryIdOf);

describe('entry ids', () => {
  it('are read as Redis reads them', () => {
    const read: Record<string, string | undefined> = {
      '5': '5-0',
      '007-0003': '7-3',
      '9007199254740993-9007199254740993': '9007199254740993-9007199254740993',
      '18446744073709551615-18446744073709551615': maxEntryId,
      '18446744073709551616': undefined,
      '0-18446744073709551616': undefined,
      '': undefined,
      '-1': undefined,
      '5-': undefined,
      '-': undefined,
      '+': undefined,
      '0x5': undefined,
      '1-2-3': undefined,
      ' 5': undefined,
    };
    for (const [text, id] of Object.entries(read)) assert.equal(parseEntryId(text), id, text);
    assert.throws(() => entryId('x'), RangeError);
  });

  it('are recognised in canonical form only', () => {
    fc.assert(fc.property(anyId, (id) => isEntryId(id) && parseEntryId(id) === id));
    for (const text of ['5', '05-0', '5-00', '5-0 ', '5-0\n']) assert.equal(isEntryId(text), false, text);
  });

  it('are ordered by both halves as 64-bit numbers', () => {
    assert.ok(compareEntryIds(entryId('9-0'), entryId('10-0')) < 0);
    assert.ok(compareEntryIds(entryId('9007199254740993-0'), entryId('9007199254740992-0')) > 0);
    fc.assert(
      fc.property(anyId, anyId, (a, b) => {
        const [left, right] = [entryIdParts(a), entryIdParts(b)];
        const expected = left.ms === right.ms ? left.seq - right.seq : left.ms - right.ms;
        assert.equal(Math.sign(compareEntryIds(a, b)), expected > 0n ? 1 : expected < 0n ? -1 : 0);
        assert.equal(Math.sign(compareEntryIds(b, a)), -Math.sign(compareEntryIds(a, b)) + 0);
      }),
    );
  });

  it('have a next and a previous one, with carry, but at the ends', () => {
    assert.equal(nextEntryId(entryId('5-18446744073709551615')), '6-0');
    assert.equal(previousEntryId(entryId('6-0')), '5-18446744073709551615');
    assert.equal(nextEntryId(maxEntryId), undefined);
    assert.equal(previousEntryId(minEntryId), undefined);
    fc.assert(
      fc.property(anyId, (id) => {
        const next = nextEntryId(id);
        if (next === undefined) return;
        assert.equal(previousEntryId(next), id);
        assert.ok(compareEntryIds(id, next) < 0);
      }),
    );
  });

  it('tell a time only when it can be one', () => {
    assert.equal(entryIdTimeMs(entryId('1700000000000-5')), 1_700_000_000_000);
    for (const id of ['5-0', '0-0', '18446744073709551615-0', '1700000000-0', '99999999999999-0'])
      assert.equal(entryIdTimeMs(entryId(id)), undefined, id);
  });
});
