/** I15: what a codec encodes it decodes to the same, and what it cannot carry it refuses, without quoting a value (I13). */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { ConfigError, DecodeError, EncodeError, fields, json } from '../../src/bus';
import type { Codec, Outgoing } from '../../src/bus';
import { bytesToText } from '../../src/base/byteText';

/** Any text that bytes can be read as: unicode, empty, control characters, and what stands for bytes that are not UTF-8. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }).map((value) => value.replace(/[\ud800-\udfff]/g, '')),
  fc.uint8Array({ maxLength: 12 }).map((bytes) => bytesToText(bytes)),
  fc.constantFrom('', '\0', 'ü€😀', '__proto__', 'constructor', 'toString', '-', 't', 'b', 'v', 'h.x'),
);
const traceNames = ['traceparent', 'tracestate', 'baggage'];
const traceHeaders = fc.dictionary(fc.constantFrom(...traceNames), text);

/** The same with ordinary records, undefined for what was left out. */
function plain({ type, key, headers, body }: Outgoing): Outgoing {
  return structuredClone({ type, key, headers: { ...headers }, body });
}

function assertCarried(codec: Codec, message: Outgoing): void {
  assert.deepEqual(plain(codec.decode(codec.encode(message))), plain(message));
}

/** A dictionary whose names may be `__proto__` too. */
const dictionary = (name: fc.Arbitrary<string>, minKeys: number): fc.Arbitrary<Record<string, string>> =>
  fc.uniqueArray(fc.tuple(name, text), { minLength: minKeys, selector: ([first]) => first }).map((pairs) => {
    const record = Object.create(null) as Record<string, string>;
    for (const [first, value] of pairs) record[first] = value;
    return record;
  });

describe('the fields codec', () => {
  const reserved = (options: { readonly typeField?: string; readonly keyField?: string }): string[] => [
    ...traceNames,
    ...Object.values(options),
  ];

  for (const options of [{}, { typeField: 'type' }, { typeField: 't', keyField: '__proto__' }]) {
    it(`reads back what it wrote with ${JSON.stringify(options)} (I15)`, () => {
      const codec = fields(options);
      const name = text.filter((value) => !reserved(options).includes(value));
      const optional = (field: string): fc.Arbitrary<string | undefined> =>
        field in options ? fc.option(text, { nil: undefined }) : fc.constant(undefined);
      const message = fc.record({
        type: optional('typeField'),
        key: Object.hasOwn(options, 'keyField') ? fc.option(text, { nil: undefined }) : fc.constant(undefined),
        headers: traceHeaders,
        body: dictionary(name, 1),
      });
      fc.assert(
        fc.property(message, (one) => {
          assertCarried(codec, one);
        }),
      );
    });
  }

  it('reads any entry, and writes what it read the same, but for fields whose name comes twice', () => {
    const codec = fields({ typeField: 'type', keyField: 'key' });
    const bytes = fc.uint8Array({ maxLength: 6 }).map((value) => Buffer.from(value));
    const entry = fc.uniqueArray(fc.tuple(bytes, bytes), { minLength: 1, selector: ([name]) => name.toString('hex') });
    const sorted = (pairs: readonly Buffer[]): string[] =>
      pairs
        .flatMap((name, at) => (at % 2 === 0 ? [`${name.toString('hex')}=${pairs[at + 1]?.toString('hex')}`] : []))
        .sort();
    fc.assert(
      fc.property(entry, (pairs) => {
        assert.deepEqual(sorted(codec.encode(codec.decode(pairs.flat()))), sorted(pairs.flat()));
      }),
    );
    const twice = codec.decode(['a', '1', 'a', '2'].map((value) => Buffer.from(value)));
    assert.deepEqual({ ...(twice.body as object) }, { a: '2' });
  });

  it('refuses what it cannot carry, and says why without the value (I13)', () => {
    const canary = 'canary7f3a';
    const flat = fields({ typeField: 'type', keyField: 'key' });
    const wrong: readonly [Codec, Partial<Outgoing>, RegExp][] = [
      [flat, { body: { n: 1 } }, /body\.n is number/],
      [flat, { body: { n: { deep: canary } } }, /body\.n is object/],
      [flat, { body: { n: undefined } }, /body\.n is undefined/],
      [flat, { body: [canary] }, /object of text only/],
      [flat, { body: canary }, /object of text only/],
      [flat, { body: null }, /object of text only/],
      [flat, { body: new Map([[canary, canary]]) }, /object of text only/],
      [flat, { body: {} }, /at least one field/],
      [flat, { body: { type: canary } }, /body\.type would be read as the message's type/],
      [flat, { body: { key: canary } }, /body\.key would be read as the message's key/],
      [flat, { body: { traceparent: canary } }, /body\.traceparent would be read as the message's headers/],
      [flat, { body: { n: '1' }, headers: { other: canary } }, /carries no header "other"/],
      [flat, { body: { n: `${canary}\ud800` } }, /body\.n holds half a character/],
      [flat, { body: { ['\ud800x']: canary } }, /name of body\[…\] holds half/],
      [flat, { body: { n: '1' }, type: '\udbff' }, /The type holds half/],
      [fields(), { body: { n: '1' }, type: canary }, /a type only with a typeField/],
      [fields(), { body: { n: '1' }, key: canary }, /a key only with a keyField/],
    ];
    for (const [codec, message, why] of wrong) assertRefused(codec, message, why, canary);
    for (const options of [{ typeField: '' }, { typeField: 'a', keyField: 'a' }, { keyField: 'baggage' }])
      assert.throws(() => fields(options), ConfigError);
  });
});

describe('the JSON codec', () => {
  it('reads back what it wrote (I15)', () => {
    const codec = json();
    const message = fc.record({
      type: fc.option(text, { nil: undefined }),
      key: fc.option(text, { nil: undefined }),
      headers: dictionary(fc.oneof(text, fc.constantFrom(...traceNames)), 0),
      body: fc.oneof(
        fc.jsonValue().filter((value) => !JSON.stringify(value).includes('__proto__')),
        text,
        fc.constantFrom(null, '', [], {}, [[]], { '': '' }, 2 ** 53, 5e-324, 1.7976931348623157e308, '\ud800'),
      ),
    });
    fc.assert(
      fc.property(message, (one) => {
        if (refusal(codec, one)?.includes('negative zero')) return;
        assertCarried(codec, one);
      }),
      { numRuns: 300 },
    );
  });

  it('carries a body that names __proto__, and leaves undefined properties out', () => {
    const codec = json();
    const body: unknown = JSON.parse('{"__proto__":{"polluted":1},"a":[{"__proto__":2}]}');
    const { body: read } = codec.decode(codec.encode({ type: undefined, key: undefined, headers: {}, body }));
    assert.equal(JSON.stringify(read), JSON.stringify(body));
    assert.equal(Reflect.get({}, 'polluted'), undefined);
    const sparse = { a: undefined, b: { c: undefined } };
    const left = codec.decode(codec.encode({ type: undefined, key: undefined, headers: {}, body: sparse }));
    assert.deepEqual(left.body, { b: {} });
  });

  it('refuses what JSON would change, and says where without the value (I13)', () => {
    const canary = 'canary7f3a';
    const cycle: Record<string, unknown> = {};
    cycle.self = { cycle };
    let deep: unknown = canary;
    for (let depth = 0; depth < 200_000; depth += 1) deep = [deep];
    class Money {
      readonly cents = canary;
    }
    const wrong: readonly [unknown, RegExp][] = [
      [undefined, /body is undefined/],
      [() => canary, /body is a function/],
      [{ at: new Date() }, /body\.at is a Date/],
      [{ items: [1, { price: new Money() }] }, /body\.items\[1\]\.price is a Object/],
      [new Map([[canary, 1]]), /body is a Map/],
      [{ bytes: Buffer.from(canary) }, /body\.bytes is a Uint8Array/],
      [{ n: NaN }, /body\.n is NaN/],
      [{ n: -Infinity }, /body\.n is -Infinity/],
      [[-0], /body\[0\] is negative zero/],
      [{ n: 1n }, /body\.n is a bigint/],
      [{ s: Symbol(canary) }, /body\.s is a symbol/],
      [{ [Symbol(canary)]: 1 }, /property named by a symbol/],
      [[undefined], /body\[0\] is undefined/],

      [[1, , 2], /list with holes/],
      [Object.assign([1], { [canary]: 2 }), /list with holes or names/],
      [{ toJSON: () => canary }, /toJSON of its own/],
      [{ 'not a name: canary7f3a': NaN }, /body\[…\] is NaN/],
      [cycle, /body\.self\.cycle contains itself/],
      [deep, /nested too deeply/],
    ];
    for (const [body, why] of wrong) assertRefused(json(), { body }, why, canary);
    assertRefused(json(), { body: 1, headers: { ['\ud800']: canary } }, /A header holds half/, canary);
    assert.doesNotThrow(() =>
      json().encode({ type: 't', key: 'k', headers: {}, body: { twice: [cycle.x, 1].slice(1) } }),
    );
  });

  it('says what is wrong with an entry without quoting it (I13)', () => {
    const canary = 'canary-7f3a';
    const cases: readonly (readonly string[])[] = [
      ['b', `{${canary}`],
      ['x', canary],
      ['b', '1', 'v', canary],
    ];
    for (const pairs of cases)
      assert.throws(
        () => json().decode(pairs.map((value) => Buffer.from(value))),
        (error) => error instanceof DecodeError && !error.message.includes(canary) && error.cause === undefined,
      );
  });
});

function refusal(codec: Codec, message: Partial<Outgoing>): string | undefined {
  try {
    codec.encode({ type: undefined, key: undefined, headers: {}, body: {}, ...message });
    return undefined;
  } catch (error) {
    assert.ok(error instanceof EncodeError, String(error));
    return error.message;
  }
}

function assertRefused(codec: Codec, message: Partial<Outgoing>, why: RegExp, canary: string): void {
  const text = refusal(codec, message) ?? assert.fail(`it was carried: ${why}`);
  assert.match(text, why);
  assert.ok(!text.includes(canary), text);
}
