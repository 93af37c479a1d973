/** Topics with schemas: what the compiler and the server let through, with any Standard Schema. */
import assert from 'node:assert/strict';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import fc from 'fast-check';
import * as v from 'valibot';
import { z } from 'zod';
import { ConfigError, DecodeError, fields, json, PublishError, Reject, topic } from '../../src/bus';
import type { Bus, ConsumerOptions, Message } from '../../src/bus';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { collect, pendingRows, quickOptions, startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

/** A schema by hand: a whole number above zero, or text of one, found out in a promise. */
const positive: StandardSchemaV1<{ n: number | string }, { n: number }> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: async (value) => {
      await Promise.resolve();
      const n = typeof value === 'object' && value !== null && 'n' in value ? Number(value.n) : NaN;
      return n > 0 ? { value: { n } } : { issues: [{ message: `not ${String(n)}`, path: [{ key: 'n' }] }] };
    },
  },
};

const byType = {
  'run.requested': z.object({ runId: z.string().min(1), tries: z.number().default(1) }),
  'run.done': v.object({ runId: v.string(), ms: v.pipe(v.number(), v.minValue(0)) }),
  counted: positive,
};

const runsTopic = (name = uniqueKey()) => topic(name, byType, { retention: 'none' });

describe('a topic with schemas', () => {
  let world: BusWorld;
  let bus: Bus;
  before(async () => {
    world = await startBusWorld();
  });
  beforeEach(() => {
    bus = world.bus();
  });
  afterEach(() => world.closeBuses());
  after(() => world.stop());

  it('gives each handler the body that the schema of its type makes', async () => {
    const runs = runsTopic();
    const got: unknown[] = [];
    const consumer = bus.consume(runs, quickOptions({ concurrency: 1 }), {
      'run.requested': ({ type, body }) => got.push([type, body.runId.toUpperCase(), body.tries + 1]),
      'run.done': ({ type, body }) => got.push([type, body.runId, body.ms + 1]),
      counted: ({ type, body, fields: { b }, id, stream }) => got.push([type, body.n + 1, b, typeof id, stream]),
    });
    await consumer.start();
    await bus.publish(runs, { type: 'run.requested', body: { runId: 'a' } });
    await bus.publish(runs, { type: 'run.done', body: { runId: 'a', ms: 5 } }, { dedupeKey: 'd' });
    await bus.publishBatch(runs, [{ type: 'counted', body: { n: '7' } }]);
    await eventually(() => got.length === 3);
    assert.deepEqual(got, [
      ['run.requested', 'A', 2],
      ['run.done', 'a', 6],
      ['counted', 8, '{"n":"7"}', 'string', runs.name],
    ]);
    const [[, stored] = assert.fail()] = await world.redis.xrange(runs.name, '-', '+', 'COUNT', 1);
    assert.deepEqual(
      stored,
      ['t', 'run.requested', 'v', '1', 'b', '{"runId":"a"}'],
      'the body goes out as it was given',
    );
  });

  it('gives one handler of all messages a union that its type tells apart', async () => {
    const runs = runsTopic();
    const got: string[] = [];
    const consumer = bus.consume(runs, quickOptions(), (message) => {
      if (message.type === 'run.done') got.push(message.body.ms.toFixed(1));
    });
    await consumer.start();
    await bus.publish(runs, { type: 'run.done', body: { runId: 'a', ms: 5 } });
    await eventually(() => got.length === 1);
    assert.deepEqual(got, ['5.0']);
  });

  it('takes one schema for all messages, and any codec', async () => {
    const flat = topic(uniqueKey(), v.object({ n: v.pipe(v.string(), v.transform(Number)) }), {
      retention: 'none',
      codec: fields({ typeField: 'type' }),
    });
    const got: [string | undefined, number][] = [];
    const options = quickOptions({ plainMessages: true, orderBy: ({ body }) => (body as { n: string }).n });
    const consumer = bus.consume(flat, options, ({ type, body, ...rest }) => {
      got.push([type, body.n]);
      assert.deepEqual(Object.keys(rest).sort(), ['fields', 'id', 'rawFields', 'stream']);
    });
    await consumer.start();
    await bus.publish(flat, { type: 'a', body: { n: '1' } });
    await bus.publish(flat, { body: { n: '2' } });
    await eventually(() => got.length === 2);
    assert.deepEqual(got, [
      ['a', 1],
      [undefined, 2],
    ]);
  });

  it('is not published to with what does not fit, and the error names the field and never the value (I13)', async () => {
    const runs = runsTopic();
    const canary = 'canary7f3a';
    const wrong: readonly [unknown, RegExp][] = [
      [{ type: 'run.requested', body: { runId: 5 } }, /body\.runId does not fit the schema of run\.requested/],
      [{ type: 'run.requested', body: canary }, /: body does not fit the schema/],
      [{ type: 'run.done', body: { runId: canary, ms: canary } }, /body\.ms does not fit/],
      [{ type: 'run.done', body: {} }, /body\.runId, body\.ms do not fit/],
      [{ type: 'counted', body: { n: canary } }, /body\.n does not fit/],
      [{ type: canary, body: {} }, /type must be one of run\.requested, run\.done, counted, got another/],
      [{ type: 'toString', body: {} }, /type must be one of/],
      [{ body: {} }, /type must be one of .* got none/],
    ];
    for (const [message, text] of wrong) {
      const refused = (error: unknown): boolean =>
        PublishError.is(error, 'invalid') &&
        !error.ambiguous &&
        text.test(error.message) &&
        !`${error.stack ?? ''}${JSON.stringify(error)}${String(error.cause)}`.includes(canary);
      await assert.rejects(bus.publish(runs, message as never), refused);
      const [result, other] = await bus.publishBatch(runs, [
        message as never,
        { type: 'run.done', body: { runId: 'a', ms: 1 } },
      ]);
      assert.ok(result?.status === 'failed' && refused(result.error));
      assert.equal(other?.status, 'published', 'the others of a batch go');
    }
    assert.equal(await world.redis.xlen(runs.name), wrong.length);
  });

  it('isolates what does not fit: a dead letter with reason invalid that quotes nothing, and the others are handled', async () => {
    const runs = runsTopic();
    const canary = 'canary7f3a';
    const plain = topic(runs.name, { retention: 'none', codec: json() });
    await bus.publish(plain, { type: 'run.requested', body: { runId: canary, tries: canary } });
    await bus.publish(plain, { type: 'counted', body: { n: canary } });
    await world.redis.xadd(runs.name, '*', 't', 'run.done', 'b', `{"${canary}`);
    await bus.publish(plain, { type: 'unheard-of', body: canary });
    await bus.publish(runs, { type: 'counted', body: { n: 1 } });
    let handled = 0;
    let seen = 0;
    const options = quickOptions({
      use: [
        (_message, _context, next) => {
          seen += 1;
          return next();
        },
      ],
    });
    const consumer = bus.consume(runs, options, () => {
      handled += 1;
    });
    const failed = collect(consumer, 'handler-failed');
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    await eventually(() => handled === 1 && dead.length === 4);
    assert.equal(seen, 1, 'middleware sees only what fits');
    assert.deepEqual(failed, []);
    const letters = await bus.deadLetters(runs).list();
    assert.deepEqual(letters.map(({ failure }) => failure.reason).sort(), [
      'invalid',
      'invalid',
      'invalid',
      'unroutable',
    ]);
    const errors = letters.map(({ failure }) => failure.errorMessage).join('\n');
    assert.match(errors, /body\.tries does not fit the schema/);
    assert.ok(!errors.includes(canary), errors);
    assert.deepEqual(await pendingRows(world.redis, runs.name), []);
  });

  it('keeps what a codec of the user throws out of the dead letter, unless it is a DecodeError (I13)', async () => {
    const canary = 'canary7f3a';
    const strict = topic(uniqueKey(), {
      retention: 'none',
      codec: {
        encode: () => [],
        decode: ([, value]) => {
          if (value?.length === 1) throw new DecodeError('the value is short');
          return JSON.parse(String(value)) as never;
        },
      },
    });
    await world.redis.xadd(strict.name, '*', 'n', `{${canary}`);
    await world.redis.xadd(strict.name, '*', 'n', '1');
    const consumer = bus.consume(strict, quickOptions(), () => assert.fail('nobody can read it'));
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    await eventually(() => dead.length === 2);
    const texts = (await bus.deadLetters(strict).list()).map(({ failure }) => failure.errorMessage);
    assert.deepEqual(texts, ['The codec could not read the entry', 'the value is short']);
  });

  it('leaves what does not fit pending and tells so, when there are no dead letters', async () => {
    const runs = runsTopic();
    await world.redis.xadd(runs.name, '*', 'no', 'json');
    await world.redis.xadd(runs.name, '*', 't', 'run.done', 'b', '{}');
    await world.redis.xadd(runs.name, '*', 't', 'other', 'b', '{}');
    const consumer = bus.consume(runs, quickOptions({ deadLetters: false, retry: { backoff: () => 5000 } }), () => {
      assert.fail('nobody can handle it');
    });
    const refused = collect(consumer, 'refused');
    await consumer.start();
    await eventually(() => refused.length === 3);
    assert.deepEqual(refused.map(({ reason }) => reason).sort(), ['invalid', 'invalid', 'unroutable']);
    assert.equal((await pendingRows(world.redis, runs.name)).length, 3);
  });

  it('cannot be published to while its schema fails by itself, each message of a batch on its own', async () => {
    const fails = (body: unknown): { value: unknown } => {
      if (body === 'bad') throw new Error('no database');
      return { value: body };
    };
    for (const validate of [fails, (body: unknown) => Promise.resolve(body).then(fails)]) {
      const shaky: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate } };
      const shakyTopic = topic(uniqueKey(), shaky, { retention: 'none' });
      await assert.rejects(
        bus.publish(shakyTopic, { body: 'bad' }),
        (error) => PublishError.is(error, 'invalid') && String(error.cause).includes('no database'),
      );
      const results = await bus.publishBatch(shakyTopic, [{ body: 'bad' }, { body: 'good' }]);
      assert.deepEqual(
        results.map(({ status }) => status),
        ['failed', 'published'],
      );
    }
  });

  it('takes a schema that fails by itself for a failure and not for a verdict: it is tried again', async () => {
    let asked = 0;
    const shaky: StandardSchemaV1<unknown, { n: number }> = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: () => {
          asked += 1;
          // The first time at publishing, the second in the consumer.
          return asked === 2 ? Promise.reject(new Error('no database')) : { value: { n: asked } };
        },
      },
    };
    const shakyTopic = topic(uniqueKey(), shaky, { retention: 'none' });
    const got: number[] = [];
    const consumer = bus.consume(shakyTopic, quickOptions(), ({ body }) => got.push(body.n));
    const failed = collect(consumer, 'handler-failed');
    await consumer.start();
    await bus.publish(shakyTopic, { body: 1 });
    await eventually(() => got.length === 1);
    assert.deepEqual([got, failed.length], [[3], 1]);
  });

  it('is still read as it was sent after it died and was replayed, fields that nobody knows included', async () => {
    const runs = runsTopic();
    const sent = ['extra', 'ü', 't', 'run.done', 'v', '1', 'b', '{"runId":"\\u0000é","ms":0}', 'extra', ''];
    await world.redis.xadd(runs.name, '*', ...sent, Buffer.from([0xff]), Buffer.from([0xc3, 0x28]));
    const bodies: unknown[] = [];
    const raw: Buffer[][] = [];
    const consumer = bus.consume(runs, quickOptions(), {
      'run.done': ({ body, rawFields }) => {
        bodies.push(body);
        raw.push([...rawFields]);
        if (bodies.length === 1) throw new Reject('for now');
      },
    });
    const dead = collect(consumer, 'dead-lettered');
    await consumer.start();
    await eventually(() => dead.length === 1);
    const [result] = await bus.deadLetters(runs).replay({ where: {} });
    assert.equal(result?.status, 'replayed');
    await eventually(() => bodies.length === 2);
    assert.deepEqual(bodies[1], bodies[0]);
    const [first = [], second = []] = raw;
    assert.deepEqual(second.slice(0, first.length), first);
    assert.equal(first.length, 12);
  });

  it('carries every body that fits, as it is (I15)', async function () {
    this.timeout(60_000);
    const text = fc.string({ unit: 'binary' }).map((value) => value.replace(/[\ud800-\udfff]/g, ''));
    const cases = [
      { name: 'zod', schema: z.record(z.string(), z.json()), body: fc.dictionary(text, fc.jsonValue()) },
      {
        name: 'valibot',
        schema: v.object({ id: v.string(), deep: v.array(v.object({ on: v.boolean(), tag: v.nullable(v.string()) })) }),
        body: fc.record({ id: text, deep: fc.array(fc.record({ on: fc.boolean(), tag: fc.option(text) })) }),
      },
      { name: 'by hand', schema: positive, body: fc.record({ n: fc.integer({ min: 1 }) }) },
    ] as const;
    for (const { name, schema, body } of cases) {
      const one = topic(uniqueKey(), schema as StandardSchemaV1, { retention: 'none' });
      const bodies = fc
        .sample(body as fc.Arbitrary<unknown>, { numRuns: 150, seed: 8 })
        // Records without a prototype become ordinary ones, as they are when they are read.
        .map((value) => structuredClone(value))
        // zod's records leave that name out.
        .filter((value) => !JSON.stringify(value).includes('__proto__'));
      const got: unknown[] = [];
      const options = quickOptions({ concurrency: 1 });
      const consumer = bus.consume(one, options, ({ body: read }) => got.push(read));
      await consumer.start();
      const results = await bus.publishBatch(
        one,
        bodies.map((value) => ({ body: value })),
      );
      const published = bodies.filter((_, index) => results[index]?.status === 'published');
      assert.ok(published.length > 100, `${name}: ${published.length}`);
      await eventually(() => got.length === published.length);
      assert.deepEqual(got, published);
    }
  });

  it('is checked where it is declared', () => {
    const none = { retention: 'none' } as const;
    const wrong: readonly [unknown, string][] = [
      [{}, 'topic.schemas'],
      [null, 'topic.schemas'],
      [{ a: 5 }, 'topic.schemas.a'],
      [{ a: positive, b: {} }, 'topic.schemas.b'],
    ];
    for (const [schemas, option] of wrong)
      assert.throws(
        () => topic('s', schemas as typeof positive, none),
        (error) => ConfigError.is(error, 'invalid-option') && error.option === option,
      );
    const callableSchema = Object.assign(() => undefined, positive);
    assert.equal(topic('s', callableSchema, none).schemas, callableSchema);
  });
});

const flatly = (...values: readonly unknown[]): number => values.length;

/** Never run: what must and must not compile. */
export function typesOfTopics(bus: Bus, options: ConsumerOptions): void {
  const runs = topic('runs', byType, { retention: 'none' });
  void bus.publish(runs, { type: 'run.requested', body: { runId: 'a' }, key: 'k', headers: {} });
  // @ts-expect-error: no such type.
  void bus.publish(runs, { type: 'run.request', body: { runId: 'a' } });
  // @ts-expect-error: the type cannot be left out.
  void bus.publish(runs, { body: { runId: 'a' } });
  // @ts-expect-error: the body of another type.
  void bus.publish(runs, { type: 'run.done', body: { runId: 'a' } });
  // @ts-expect-error: a number is no text.
  void bus.publish(runs, { type: 'run.requested', body: { runId: 1 } });
  void bus.publishBatch(runs, [
    { type: 'run.requested', body: { runId: 'a', tries: 2 } },
    { type: 'counted', body: { n: '1' } },
    // @ts-expect-error: the schema takes a number or text.
    { type: 'counted', body: { n: true } },
  ]);
  bus.consume(runs, options, {
    'run.requested': ({ type, body }) => {
      const exact: 'run.requested' = type;
      const tries: number = body.tries;
      // @ts-expect-error: it is a number, because the schema has a default.
      const none: undefined = body.tries;
      return [exact, tries, none];
    },
    // @ts-expect-error: no such type.
    'run.request': () => undefined,
  });
  bus.consume(runs, options, (message) => {
    if (message.type === 'counted') {
      const n: number = message.body.n;
      return n;
    }
    // @ts-expect-error: the other types have no n.
    flatly(message.body.n);
    return 0;
  });
  const single = topic('single', positive, { retention: 'none' });
  void bus.publish(single, { body: { n: '1' } });
  void bus.publish(single, { type: 'any', body: { n: 1 } });
  // @ts-expect-error: the body is checked here too.
  void bus.publish(single, { body: 1 });
  bus.consume(single, options, { any: ({ body }) => body.n.toFixed() });
  const flat = topic<{ readonly n: string }>('flat', { retention: 'none' });
  void bus.publish(flat, { body: { n: '1' } });
  // @ts-expect-error: its bodies have a text n.
  void bus.publish(flat, { body: { m: '1' } });
  // Without a schema nobody knows what comes.
  bus.consume(flat, options, ({ body }: Message) => body);
  bus.consume(flat, options, ({ body }) => {
    // @ts-expect-error: unknown.
    flatly(body.n);
  });
  const texts = topic('texts', { retention: 'none', codec: fields() });
  void bus.publish(texts, { body: { any: '1' } });
  // @ts-expect-error: this codec carries text only.
  void bus.publish(texts, { body: { any: 1 } });
  void bus.publish(topic<{ n: 1 }>('coded', { retention: 'none', codec: json() }), { body: { n: 1 } });
  void bus.publish('name', { body: { n: '1' } });
  // @ts-expect-error: a message has a body.
  void bus.publish('name', { n: '1' });
  // @ts-expect-error: retention must be named.
  topic('none', byType, {});
}
