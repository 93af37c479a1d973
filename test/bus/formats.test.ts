/** The formats of docs/formats.md, written by its own Python and Lua against a real server and read back by the history. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ensurePythonRedis } from '../../scripts/lib/pythonRedis.mjs';
import { parseEntryId } from '../../src/bus';
import type { HistoryEvent } from '../../src/bus';
import { uniqueKey } from '../support/uniqueKey';
import { startBusWorld } from './support/busWorld';
import type { BusWorld } from './support/busWorld';

const documentation = readFileSync(path.join(import.meta.dirname, '../../docs/formats.md'), 'utf8');

/** A consumer in Python: one message is handled, one fails and dies by the documented script. */
const consumer = `
import sys

port, stream, script = int(sys.argv[1]), sys.argv[2], sys.argv[3]
client = redis.Redis(port=port, decode_responses=True)
client.xgroup_create(stream, "billing", "0", mkstream=True)
for n in range(2):
    client.xadd(stream, {"n": n})
[[_, entries]] = client.xreadgroup("billing", "py-1", {stream: ">"}, count=2)
for entry_id, fields in entries:
    print(entry_id)
    record(client, stream, "delivered", entry_id, "billing", "py-1", attempt=1)
    try:
        if fields["n"] == "1":
            raise ValueError("no such slug")
        client.xack(stream, "billing", entry_id)
        record(client, stream, "acknowledged", entry_id, "billing", "py-1", attempt=1, duration_ms=7)
    except ValueError as error:
        record(client, stream, "failed", entry_id, "billing", "py-1", attempt=1, duration_ms=3, error=error)
        at = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        client.eval(script, 2, stream, stream + ":dlq", "billing", "py-1", entry_id, "handler-error", "ValueError", str(error), 1, at)
        record(client, stream, "dead-lettered", entry_id, "billing", "py-1", attempt=1)
`;

describe('the documented formats', function () {
  this.timeout(300_000);
  let world: BusWorld;
  let stop: () => Promise<void> = () => Promise.resolve();
  let python: string;
  before(async function () {
    try {
      python = ensurePythonRedis();
    } catch (error) {
      console.log(`      no Python with redis: ${error instanceof Error ? error.message : String(error)}`);
      this.skip();
    }
    world = await startBusWorld();
    stop = () => world.stop();
  });
  after(() => stop());

  it('can be written by the Python and the Lua of their page, and the history shows every event of it', async () => {
    const stream = uniqueKey();
    const program = `${block('python')}\n${consumer}`;
    const args = ['-c', program, String(world.server.port), stream, block('lua')];
    const run = spawnSync(python, args, { encoding: 'utf8' });
    assert.equal(run.stderr, '');
    const [handled, died] = run.stdout.trim().split('\n').map(parseEntryId);
    assert.ok(handled !== undefined && died !== undefined);
    const bus = world.bus();
    const good = await bus.history(stream, handled);
    assert.deepEqual(good.events.map(told), [
      'added: server',
      'delivered 1 by py-1 in billing: recorded',
      'acknowledged 1 by py-1 in billing: recorded',
    ]);
    assert.equal(good.events.at(-1)?.durationMs, 7);
    assert.deepEqual([good.journal.malformed, good.unknownEndings], [0, []]);
    const bad = await bus.history(stream, died);
    assert.deepEqual(bad.events.map(told), [
      'added: server',
      'delivered 1 by py-1 in billing: recorded',
      'failed 1 by py-1 in billing: recorded',
      'dead-lettered 1 by py-1 in billing: recorded, derived',
    ]);
    assert.deepEqual(bad.events.at(2)?.error, { type: 'ValueError', message: 'no such slug' });
    const [letter = assert.fail()] = await bus.deadLetters(stream).list();
    assert.equal(letter.form, 'block');
    assert.deepEqual(letter.fields.map(String), ['n', '1']);
    const [replayed = assert.fail()] = await bus.deadLetters(stream).replay({ where: {} });
    assert.equal(replayed.status, 'replayed');
  });

  it('has a writer that never fails the work: with a journal of another type it is silent', async () => {
    const stream = uniqueKey();
    await world.redis.set(`${stream}:journal`, 'text');
    const call = `record(redis.Redis(port=${world.server.port}), "${stream}", "delivered", "1-0", "g", "c", 1)\nprint("went on")`;
    const run = spawnSync(python, ['-c', `${block('python')}\n${call}`], { encoding: 'utf8' });
    assert.deepEqual([run.stdout, run.stderr], ['went on\n', '']);
  });
});

/** The first code block of a language. */
function block(language: string): string {
  return new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(documentation)?.[1] ?? assert.fail(language);
}

function told({ kind, attempt, consumer: by, group, sources }: HistoryEvent): string {
  const what = attempt === undefined ? kind : `${kind} ${attempt}`;
  const where = by === undefined ? '' : ` by ${by} in ${String(group)}`;
  return `${what}${where}: ${sources.join(', ')}`;
}
