// What the differential tests cannot see: time, ids of the engine's own, scans while keys change, and what a client is told.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { EmbeddedServer, VirtualClock } from '../../src/embedded';
import type { Engine } from '../../src/embedded/engine';
import { EntryReply, MapReply, NullArray, ReplyError, VerbatimReply } from '../../src/embedded/reply';
import type { Reply } from '../../src/embedded/reply';
import { EngineClient } from './support/engineClient';

function make(): { readonly engine: Engine; readonly clock: VirtualClock; readonly client: EngineClient } {
  const clock = new VirtualClock(1_700_000_000_000);
  const { engine } = new EmbeddedServer({ clock });
  return { engine, clock, client: new EngineClient(engine) };
}

const list = (reply: Reply | undefined): readonly Reply[] => {
  assert.ok(Array.isArray(reply), `not a list: ${JSON.stringify(reply)}`);
  return reply as readonly Reply[];
};

describe('the embedded engine', () => {
  it('makes ids of its clock, and counts up within a millisecond and when the clock goes back', async () => {
    const { clock, client } = make();
    assert.equal(client.send('XADD', 's', '*', 'a', 'b'), '1700000000000-0');
    assert.equal(client.send('XADD', 's', '*', 'a', 'b'), '1700000000000-1');
    await clock.advance(5);
    assert.equal(client.send('XADD', 's', '*', 'a', 'b'), '1700000000005-0');
    client.send('XADD', 's', '1800000000000-7', 'a', 'b');
    assert.equal(client.send('XADD', 's', '*', 'a', 'b'), '1800000000000-8');
  });

  it('lets keys expire when their time is over, and not before', async () => {
    const { clock, client } = make();
    client.send('SET', 'k', 'v', 'PX', '100');
    await clock.advance(100);
    assert.equal(client.send('EXISTS', 'k'), 1);
    await clock.advance(1);
    assert.equal(client.send('EXISTS', 'k'), 0);
  });

  it('forgets expired keys that nobody asks for', async () => {
    const { clock, client } = make();
    for (let n = 0; n < 1000; n++) client.send('SET', `k${n}`, 'v', 'PX', '10');
    for (let round = 0; round < 20; round++) {
      await clock.advance(200);
      client.send('PING');
    }
    assert.equal(client.send('DBSIZE'), 0);
  });

  it('ends a blocked read after its time, with nothing', async () => {
    const { clock, client, engine } = make();
    assert.equal(client.send('XREAD', 'BLOCK', '500', 'STREAMS', 's', '$'), undefined);
    await clock.advance(499);
    assert.equal(engine.blocking.count, 1);
    await clock.advance(1);
    assert.equal(engine.blocking.count, 0);
    assert.ok(client.late[0] instanceof NullArray);
    assert.equal(clock.waiting, 0);
  });

  it('serves blocked readers in the order in which they came', () => {
    const { engine, client } = make();
    client.send('XGROUP', 'CREATE', 's', 'g', '$', 'MKSTREAM');
    const readers = [1, 2, 3].map(() => new EngineClient(engine));
    for (const reader of readers)
      reader.send('XREADGROUP', 'GROUP', 'g', 'c', 'COUNT', '1', 'BLOCK', '0', 'STREAMS', 's', '>');
    client.send('XADD', 's', '1-1', 'a', 'b');
    client.send('XADD', 's', '2-1', 'a', 'b');
    assert.deepEqual(
      readers.map(({ late }) => late.length),
      [1, 1, 0],
    );
  });

  it('tells the idle time of entries by its clock', async () => {
    const { clock, client } = make();
    client.send('XADD', 's', '1-1', 'a', 'b');
    client.send('XGROUP', 'CREATE', 's', 'g', '0');
    client.send('XREADGROUP', 'GROUP', 'g', 'c', 'STREAMS', 's', '>');
    await clock.advance(1234);
    assert.deepEqual(client.send('XPENDING', 's', 'g', '-', '+', '10'), [['1-1', 'c', 1234, 1]]);
    client.send('XCLAIM', 's', 'g', 'd', '1234', '1-1', 'IDLE', '99');
    assert.deepEqual(client.send('XPENDING', 's', 'g', '-', '+', '10'), [['1-1', 'd', 99, 2]]);
  });

  it('scans every key that stays, once, whatever comes and goes meanwhile, and always ends', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(300), { maxLength: 120 }),
        fc.array(fc.tuple(fc.nat(600), fc.boolean()), { maxLength: 200 }),
        fc.integer({ min: 1, max: 30 }),
        (initial, changes, count) => {
          const { client } = make();
          for (const n of initial) client.send('SET', `k${n}`, 'v');
          const touched = new Set(changes.map(([n]) => n));
          const stay = new Set(initial.filter((n) => !touched.has(n)).map((n) => `k${n}`));
          const seen: string[] = [];
          let cursor = '0';
          let at = 0;
          do {
            const [next, keys] = list(client.send('SCAN', cursor, 'COUNT', String(count)));
            assert.ok(typeof next === 'string');
            seen.push(...list(keys).map(String));
            cursor = next;
            for (const [n, isAdded] of changes.slice(at, at + 5))
              client.send(...(isAdded ? ['SET', `k${n}`, 'v'] : ['DEL', `k${n}`]));
            at += 5;
            assert.ok(at < 5000, 'the scan does not end');
          } while (cursor !== '0');
          const stayed = seen.filter((key) => stay.has(key));
          assert.deepEqual([...stayed].sort(), [...stay].sort());
        },
      ),
      { numRuns: 200 },
    );
  });

  it('keeps each database apart', () => {
    const { client } = make();
    client.send('SET', 'k', 'zero');
    client.send('SELECT', '1');
    assert.equal(client.send('GET', 'k'), null);
    assert.ok(client.send('SELECT', '16') instanceof ReplyError);
  });

  it('aborts a transaction whose watched key was changed or has expired', async () => {
    const { engine, client, clock } = make();
    const other = new EngineClient(engine);
    client.send('WATCH', 'k');
    other.send('SET', 'k', 'v', 'PX', '50');
    client.send('MULTI');
    client.send('PING');
    assert.ok(client.send('EXEC') instanceof NullArray);
    client.send('WATCH', 'k');
    client.send('MULTI');
    client.send('PING');
    await clock.advance(100);
    assert.ok(client.send('EXEC') instanceof NullArray);
  });

  it('says in INFO that it is the embedded engine, standalone and a master', () => {
    const { client } = make();
    const info = client.send('INFO');
    assert.ok(info instanceof VerbatimReply);
    for (const line of ['redis_version:7.0.15', 'redis_mode:standalone', 'role:master', 'maxmemory_policy:noeviction'])
      assert.ok(info.text.includes(`${line}\r\n`), line);
    assert.match(info.text, /^embedded_version:\d/m);
    const config = client.send('CONFIG', 'GET', 'max*policy');
    assert.ok(config instanceof MapReply);
    assert.deepEqual(config.pairs, ['maxmemory-policy', 'noeviction']);
  });

  it('keeps what it answered unchanged by what comes after', () => {
    const { client } = make();
    client.send('XADD', 's', '1-1', 'a', 'one');
    const [entry] = list(client.send('XRANGE', 's', '-', '+'));
    client.send('XDEL', 's', '1-1');
    for (let n = 2; n < 500; n++) client.send('XADD', 's', `${n}-1`, 'a', 'two');
    assert.ok(entry instanceof EntryReply);
    assert.equal(
      entry.fields.bytes.toString('latin1', entry.fields.start, entry.fields.end),
      '*2\r\n$1\r\na\r\n$3\r\none\r\n',
    );
  });
});
