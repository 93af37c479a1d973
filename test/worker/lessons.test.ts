/** The second example domain: typed events, and completions that are counted once, whatever happens. */
import assert from 'node:assert/strict';
import { createMemoryBus } from '../../src/embedded';
import { systemClock } from '../../src/base/clock';
import { createLessonConsumer } from '../../src/worker/lessons/lessonConsumer';
import { lessonEvents } from '../../src/worker/lessons/lessonEvents';
import { memoryLessonStore, openPostgresLessonStore } from '../../src/worker/lessons/lessonStore';
import type { LessonStore } from '../../src/worker/lessons/lessonStore';
import { eventually } from '../support/eventually';
import { uniqueKey } from '../support/uniqueKey';
import { AppWorld } from './support/appWorld';
import { endWorkers, startWorker } from './support/workerProcess';

describe('Lesson events', () => {
  let world: AppWorld;
  let postgres: LessonStore;
  before(async () => {
    world = await AppWorld.start();
    postgres = await openPostgresLessonStore(world.postgres.url);
  });
  afterEach(endWorkers);
  after(async () => {
    await postgres.close();
    await world.end();
  });

  for (const [name, open] of [
    ['memory', (): LessonStore => memoryLessonStore()],
    ['PostgreSQL', (): LessonStore => postgres],
  ] as const) {
    describe(`with a store in ${name}`, () => {
      it('record a completion once, and count only what was inserted', async () => {
        const store = open();
        const studentId = uniqueKey('student');
        const told = await Promise.all(
          Array.from({ length: 10 }, () => store.complete({ studentId, lessonId: 'one' })),
        );
        assert.equal(told.filter(Boolean).length, 1);
        assert.equal(await store.complete({ studentId, lessonId: 'two' }), true);
        assert.deepEqual(await store.progressOf(studentId), { completed: 2, lessonIds: ['one', 'two'] });
        assert.deepEqual(await store.progressOf('nobody'), { completed: 0, lessonIds: [] });
      });

      it('are counted once by two consumers, told twice, delivered twice and handled by one that crashed', async () => {
        const store = open();
        const studentId = uniqueKey('student');
        const memory = createMemoryBus({ clock: systemClock() });
        // A process that crashed ends with its timers; here the timer of a handler's time would stay.
        const times = { blockMs: 50, handlerTimeoutMs: 0, retry: { backoff: () => 5 }, reclaim: { intervalMs: 20 } };
        const options = { group: 'progress', ...times };
        const ownership = { minIdleMs: 150, heartbeatMs: 50 };
        const crashing = memory.open('crashing');
        const first = createLessonConsumer(crashing, store, {
          ...options,
          ownership,
          name: 'crashing',
          use: [
            async (_message, _context, next) => {
              await next();
              memory.crash('crashing');
            },
          ],
        });
        await first.consumer.start();
        const body = { studentId, lessonId: 'one' };
        await memory.bus.publish(lessonEvents, { type: 'lesson_completed', body });
        await eventually(() => first.counts.recorded === 1);
        await memory.bus.publish(lessonEvents, { type: 'lesson_completed', body });
        await memory.bus.publish(lessonEvents, { type: 'lesson_started', body });
        await memory.bus.publish(lessonEvents, { type: 'task_submitted', body: { ...body, taskId: 't', score: 90 } });
        const second = createLessonConsumer(memory.open('second'), store, { ...options, ownership, name: 'second' });
        await second.consumer.start();
        await eventually(() => second.counts.completions === 2 && second.counts.tasks === 1);
        assert.deepEqual(second.counts, { started: 1, completions: 2, recorded: 0, tasks: 1 });
        assert.deepEqual(await store.progressOf(studentId), { completed: 1, lessonIds: ['one'] });
        await second.consumer.close();
        await memory.bus.close();
      });
    });
  }

  it('wait for a database that is away, and use up no delivery', async () => {
    const studentId = uniqueKey('student');
    const { bus } = createMemoryBus({ clock: systemClock() });
    const warnings: string[] = [];
    const log = { info: () => undefined, warn: (text: string) => void warnings.push(text), error: () => undefined };
    const retry = { maxDeliveries: 2, backoff: () => 5 };
    const { consumer, counts } = createLessonConsumer(bus, postgres, { group: 'progress', blockMs: 50, retry, log });
    const failed: unknown[] = [];
    consumer.on('handler-failed', (event) => void failed.push(event));
    await consumer.start();
    await world.postgres.kill();
    try {
      await bus.publish(lessonEvents, { type: 'lesson_completed', body: { studentId, lessonId: 'one' } });
      await eventually(() => warnings.length > 0 || failed.length > 0);
    } finally {
      await world.postgres.restart();
    }
    await eventually(() => counts.recorded === 1 || failed.length > 0);
    await consumer.close();
    await bus.close();
    assert.deepEqual(failed, []);
    assert.equal((await postgres.progressOf(studentId)).completed, 1);
  });

  it('say in a sentence that the database cannot be used, and not where in the code', async () => {
    const env = { DATABASE_URL: 'postgresql://app:hunter2@127.0.0.1:1/x', REDIS_STREAMS_URL: world.redis.url };
    for (const args of [['run'], ['show', '--student', 'ana']]) {
      const worker = startWorker(['lessons', ...args], { env });
      assert.equal(await worker.ended, 1);
      assert.match(worker.output(), /The database of DATABASE_URL cannot be used: connect ECONNREFUSED/);
      assert.doesNotMatch(worker.output(), /hunter2|^ +at /m);
    }
  });

  it('that do not fit their schema are not published, and become dead letters when somebody else does', async () => {
    const memory = createMemoryBus({ clock: systemClock() });
    const wrong = { studentId: 'ana', lessonId: 'one', taskId: 't', score: 101 };
    await assert.rejects(memory.bus.publish(lessonEvents, { type: 'task_submitted', body: wrong }), /score/);
    const { consumer, counts } = createLessonConsumer(memory.bus, memoryLessonStore(), { group: 'progress' });
    await consumer.start();
    const field = (name: string, value: string): Buffer[] => [Buffer.from(name), Buffer.from(value)];
    const port = memory.server.process('foreign').openPort();
    await port.add(consumer.stream, [...field('t', 'task_submitted'), ...field('b', JSON.stringify(wrong))]);
    const deadLetters = memory.bus.deadLetters(lessonEvents);
    await eventually(async () => (await deadLetters.count()) === 1);
    const [letter] = await deadLetters.list();
    assert.equal(letter?.failure.reason, 'invalid');
    assert.equal(counts.tasks, 0);
    await consumer.close();
  });

  it('from the command line: publish twice, run, show once', async () => {
    const app = world.app();
    const student = uniqueKey('student');
    const env = app.environment;
    const publish = ['lessons', 'publish', '--type', 'lesson_completed', '--student', student, '--lesson', 'intro'];
    for (let time = 1; time <= 2; time += 1) {
      const process = startWorker(publish, { env });
      assert.equal(await process.ended, 0, process.output());
      assert.match(process.output(), /^\d+-\d+$/m);
    }
    const consumer = startWorker(['lessons', 'run'], { env });
    await eventually(() => consumer.output().match(/A completion (is|was) recorded/g)?.length === 2);
    consumer.kill('SIGTERM');
    assert.equal(await consumer.ended, 0, consumer.output());
    assert.match(consumer.output(), /Counted started=0 completions=2 recorded=1 tasks=0/);
    const shown = startWorker(['lessons', 'show', '--student', student], { env });
    assert.equal(await shown.ended, 0);
    assert.deepEqual(JSON.parse(shown.output()), { studentId: student, completed: 1, lessonIds: ['intro'] });
  });

  for (const args of [
    ['lessons'],
    ['lessons', 'run', '--url', 'embedded://'],
    ['lessons', 'publish', '--student', 'ana'],
    ['lessons', 'publish', '--type', 'task_submitted', '--student', 'ana', '--lesson', 'x'],
    ['lessons', 'publish', '--type', 'lesson_burned', '--student', 'ana', '--lesson', 'x'],
    ['lessons', 'show', '--student', 'ana', '--store', 'memory'],
  ]) {
    it(`${args.join(' ')} is a usage error`, async () => {
      const process = startWorker(args, { env: world.app().environment });
      assert.equal(await process.ended, 2, process.output());
    });
  }
});
