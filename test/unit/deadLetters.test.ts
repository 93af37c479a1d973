import assert from 'node:assert/strict';
import fc from 'fast-check';
import {
  deadLetterFieldNames,
  deadLetterFields,
  encodeDeadLetterBlock,
  maxErrorMessageBytes,
  readDeadLetter,
  replayFields,
  splitReplayOrigin,
} from '../../src/bus/deadLetters';
import type { DeadLetterBlock } from '../../src/bus/deadLetters';
import type { Entry } from '../../src/bus/entries';
import { consumerName, entryId, groupName, streamKey } from '../../src/bus/ids';

const failure: Omit<DeadLetterBlock, 'id' | 'entry' | 'replays'> = {
  stream: streamKey('orders'),
  group: groupName('billing\udcff'),
  consumer: consumerName(''),
  reason: 'handler-error',
  errorType: 'TypeError',
  errorMessage: 'No price',
  deliveries: 3,
  atMs: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
};

const fieldsOf = (...texts: string[]): Buffer[] => texts.map((text) => Buffer.from(text));
const entryOf = (id: string, fields: readonly Buffer[]): Entry => ({ id: entryId(id), fields });

describe('a dead letter', () => {
  it('is the original fields followed by the eleven pairs in their order', () => {
    const fields = deadLetterFields(entryOf('5-1', fieldsOf('a', '1', 'a', '2')), failure);
    assert.deepEqual(
      fields.map((field) => field.toString('latin1')),
      [
        ...['a', '1', 'a', '2'],
        ...['dl.id', '5-1', 'dl.entry', '5-1', 'dl.stream', 'orders', 'dl.group', 'billing\xff', 'dl.consumer', ''],
        ...['dl.reason', 'handler-error', 'dl.error.type', 'TypeError', 'dl.error.message', 'No price'],
        ...['dl.deliveries', '3', 'dl.at', '2026-01-02T03:04:05.678Z', 'dl.replays', '0'],
      ],
    );
  });

  it('is read back as it was written, for any fields', () => {
    const anyFields = fc
      .array(fc.tuple(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ maxLength: 8 })), { maxLength: 6 })
      .map((pairs) => pairs.flat().map((bytes) => Buffer.from(bytes)));
    fc.assert(
      fc.property(anyFields, (original) => {
        const dead = readDeadLetter(entryOf('9-0', deadLetterFields(entryOf('5-1', original), failure)));
        assert.equal(dead.form, 'block');
        assert.deepEqual(dead.fields, original);
        assert.deepEqual(dead.failure, { ...failure, id: '5-1', entry: '5-1', replays: 0 });
      }),
    );
  });

  it('keeps a count of deliveries that is no longer exact, negative or zero', () => {
    for (const deliveries of [0, -1, 2 ** 63, -(2 ** 63)]) {
      const dead = readDeadLetter(entryOf('9-0', deadLetterFields(entryOf('5-1', []), { ...failure, deliveries })));
      assert.equal(dead.failure.deliveries, deliveries);
    }
  });

  it('bounds the error message without cutting a character', () => {
    const block = { ...failure, id: entryId('1-0'), entry: entryId('1-0'), replays: 0, errorMessage: 'é'.repeat(1000) };
    const message = encodeDeadLetterBlock(block)[15];
    assert.equal(message?.toString(), 'é'.repeat(maxErrorMessageBytes / 2));
    const odd = encodeDeadLetterBlock({ ...block, errorMessage: `x${'é'.repeat(1000)}` })[15];
    assert.equal(odd?.toString(), `x${'é'.repeat(511)}`);
  });

  it('leaves the names of the block to the user unless all of them stand complete at the end', () => {
    const block = deadLetterFields(entryOf('5-1', fieldsOf('a', '1')), failure);
    const notOurs = [
      [...block, ...fieldsOf('a', '2')],
      block.slice(0, -2),
      [...block.slice(0, 2), ...block.slice(4)],
      block.map((field, index) => (index === 3 ? Buffer.from('not-an-id') : field)),
      block.map((field, index) => (index === 23 ? Buffer.from('-1') : field)),
      fieldsOf('dl.id', '1-0', 'dl.reason', 'mine'),
    ];
    for (const fields of notOurs) {
      const dead = readDeadLetter(entryOf('9-0', fields));
      assert.equal(dead.form, 'unknown');
      assert.deepEqual(dead.fields, fields);
    }
    assert.equal(readDeadLetter(entryOf('9-0', block)).form, 'block');
  });

  it('is taken apart one block at a time when a dead letter itself died', () => {
    const first = deadLetterFields(entryOf('5-1', fieldsOf('a', '1')), failure);
    const second = deadLetterFields(entryOf('9-0', first), { ...failure, stream: streamKey('orders:dlq') });
    const outer = readDeadLetter(entryOf('12-0', second));
    assert.equal(outer.failure.stream, 'orders:dlq');
    assert.deepEqual(outer.fields, first);
  });
});

describe('a replay', () => {
  const dead = readDeadLetter(entryOf('9-0', deadLetterFields(entryOf('5-1', fieldsOf('a', '1')), failure)));

  it('publishes the original fields and two pairs', () => {
    assert.deepEqual(replayFields(dead), fieldsOf('a', '1', 'dl.id', '5-1', 'dl.replays', '1'));
  });

  it('carries the first id and counts on when the message dies again', () => {
    const again = readDeadLetter(entryOf('12-0', deadLetterFields(entryOf('10-0', replayFields(dead)), failure)));
    assert.deepEqual(again.fields, fieldsOf('a', '1'));
    assert.equal(again.failure.id, '5-1');
    assert.equal(again.failure.entry, '10-0');
    assert.equal(again.failure.replays, 1);
    assert.deepEqual(replayFields(again), fieldsOf('a', '1', 'dl.id', '5-1', 'dl.replays', '2'));
  });

  it('is not seen in fields that only look like its two pairs', () => {
    for (const fields of [
      fieldsOf('dl.id', '5-1', 'dl.replays', '0'),
      fieldsOf('dl.id', 'x', 'dl.replays', '1'),
      fieldsOf('dl.replays', '1', 'dl.id', '5-1'),
      fieldsOf('dl.id', '5-1', 'dl.replays', '1', 'a', '1'),
      fieldsOf('dl.replays', '1'),
      [],
    ])
      assert.deepEqual(splitReplayOrigin(fields), { fields, origin: undefined });
  });

  it('of an entry without any header names it by its id in the dead letters', () => {
    const plain = readDeadLetter(entryOf('9-0', fieldsOf('a', '1')));
    assert.deepEqual(replayFields(plain), fieldsOf('a', '1', 'dl.id', '9-0', 'dl.replays', '1'));
  });
});

describe('dead letters of others', () => {
  it('are read with originalId, deliveries and reason anywhere', () => {
    const fields = fieldsOf('originalId', '5-1', 'a', '1', 'deliveries', '4', 'reason', 'boom', 'a', '2');
    const dead = readDeadLetter(entryOf('9-0', fields));
    assert.equal(dead.form, 'camelCase');
    assert.deepEqual(dead.fields, fieldsOf('a', '1', 'a', '2'));
    assert.deepEqual(dead.failure, { id: '5-1', entry: '5-1', reason: 'boom', deliveries: 4 });
    assert.deepEqual(replayFields(dead).slice(-4), fieldsOf('dl.id', '5-1', 'dl.replays', '1'));
  });

  it('are read with original_id, error, payload and failed_at, the fields taken from a payload of JSON', () => {
    const payload = '{"a":"1","__proto__":"2"}';
    const fields = fieldsOf('original_id', '5-1', 'error', 'boom', 'payload', payload, 'failed_at', '1767323045.5');
    const dead = readDeadLetter(entryOf('9-0', fields));
    assert.equal(dead.form, 'snakeCase');
    assert.equal(dead.fieldsAre, 'reconstructed');
    assert.deepEqual(dead.fields, fieldsOf('a', '1', '__proto__', '2'));
    assert.deepEqual(dead.failure, { id: '5-1', entry: '5-1', errorMessage: 'boom', atMs: 1767323045500 });
  });

  it('keep a payload that is no flat object of strings as a field', () => {
    for (const payload of ['plain', '[1]', '{"a":1}', '{}']) {
      const fields = fieldsOf('original_id', '5-1', 'error', '', 'payload', payload, 'failed_at', 'unknown');
      const dead = readDeadLetter(entryOf('9-0', fields));
      assert.deepEqual(dead.fields, fieldsOf('payload', payload));
      assert.equal(dead.failure.atMs, undefined);
    }
  });

  it('are not seen where a name is missing, repeated or the id is none', () => {
    for (const fields of [
      fieldsOf('originalId', '5-1', 'reason', 'boom'),
      fieldsOf('originalId', '5-1', 'originalId', '5-1', 'deliveries', '1', 'reason', 'boom'),
      fieldsOf('originalId', 'order-7', 'deliveries', '1', 'reason', 'boom'),
    ])
      assert.equal(readDeadLetter(entryOf('9-0', fields)).form, 'unknown');
  });

  it('name eleven pairs, as the format says', () => {
    assert.equal(deadLetterFieldNames.length, 11);
  });
});
