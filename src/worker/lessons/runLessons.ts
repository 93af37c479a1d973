/**
 * `lessons`: the second example domain, a stream of typed events and a handler for which delivered twice is counted once.
 *
 * Its tests are in `test/worker/lessons.test.ts`.
 */
import { AppLife } from '../app/appLife';
import { abortGraceMs, readAppOptions, readStore, readWorkersOptions } from '../app/appOptions';
import { startMonitoring } from '../app/monitoring';
import { isEmbedded, openServer, readUrl } from '../app/openServer';
import { Settings } from '../app/settings';
import { exitCodes } from '../run/exitCodes';
import { createLogLines, thrownText } from '../run/logLines';
import { reportEvents } from '../run/reportEvents';
import { UsageError } from '../usageError';
import { createLessonConsumer } from './lessonConsumer';
import { lessonEvents } from './lessonEvents';
import { memoryLessonStore, openPostgresLessonStore } from './lessonStore';

const runFlags = ['url', 'env', 'group', 'consumer', 'store', 'close-ms', 'min-idle-ms', 'metrics-port', 'log'];
const publishFlags = ['url', 'env', 'type', 'student', 'lesson', 'task', 'score'];

/** Runs a command of `lessons`; answers the exit code. */
export function runLessons(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const [verb, ...rest] = args;
  switch (verb) {
    case 'run':
      return consume(rest, env);
    case 'publish':
      return publish(rest, env);
    case 'show':
      return show(rest, env);
    default:
      throw new UsageError(`lessons: expected run, publish or show, got ${JSON.stringify(verb ?? '')}`);
  }
}

async function consume(args: readonly string[], env: NodeJS.ProcessEnv): Promise<never> {
  const settings = new Settings(args, env, { valued: runFlags });
  const options = readAppOptions(settings, args);
  if (isEmbedded(options.url)) throw new UsageError('lessons: nobody else can publish to embedded://; name a server');
  const { consumer: name, consumerOptions } = readWorkersOptions(settings, options);
  const log = await createLogLines(options.log);
  const life = new AppLife(log, options.closeMs + abortGraceMs);
  return life.run(async () => {
    const monitoring = life.add(await startMonitoring(options, log));
    const { store: choice } = options;
    const store = life.add(
      choice.kind === 'memory' ? memoryLessonStore() : await openPostgresLessonStore(choice.databaseUrl),
    );
    const server = life.add(openServer(options.url, options.env, 'redis-streams-lessons', monitoring.telemetry));
    const group = settings.text('group') ?? 'progress';
    const { consumer, counts } = createLessonConsumer(server.bus, store, { ...consumerOptions, group, name, log });
    monitoring.watch(consumer);
    reportEvents(consumer, {
      log,
      settled: () => undefined,
      fatal: (error) => {
        life.fail(exitCodes.failed, `Cannot go on: ${error instanceof Error ? error.message : thrownText(error)}`);
      },
    });
    life.add({
      close: async () => {
        await consumer.close({ timeoutMs: options.closeMs });
        log.info('Counted', { ...counts });
      },
    });
    await consumer.start();
    log.info(`Reading ${consumer.stream} in group ${group} as consumer ${consumer.name}`);
  });
}

async function publish(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const settings = new Settings(args, env, { valued: publishFlags });
  const url = readUrl(settings, args);
  const needed = (flag: string): string => {
    const text = settings.text(flag);
    if (text === undefined) throw new UsageError(`lessons publish needs --${flag}`);
    return text;
  };
  const type = settings.choice('type', ['lesson_started', 'lesson_completed', 'task_submitted'], 'lesson_completed');
  const lesson = { studentId: needed('student'), lessonId: needed('lesson') };
  const score = settings.optionalWhole('score', { min: 0, max: 100 });
  const taskId = type === 'task_submitted' ? needed('task') : '';
  const server = openServer(url, settings.text('env') ?? 'dev', 'redis-streams-lessons');
  try {
    const { id } = await server.bus.publish(
      lessonEvents,
      type === 'task_submitted'
        ? { type, body: { ...lesson, taskId, score: score ?? 0 } }
        : type === 'lesson_completed'
          ? { type, body: { ...lesson, ...(score === undefined ? {} : { score }) } }
          : { type, body: lesson },
    );
    process.stdout.write(`${id}\n`);
    return exitCodes.ended;
  } finally {
    await server.close();
  }
}

async function show(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const settings = new Settings(args, env, { valued: ['student', 'store'] });
  const studentId = settings.text('student');
  if (studentId === undefined) throw new UsageError('lessons show needs --student');
  const choice = readStore(settings);
  if (choice.kind === 'memory') throw new UsageError('lessons show needs DATABASE_URL, where lessons run records');
  const store = await openPostgresLessonStore(choice.databaseUrl);
  try {
    process.stdout.write(`${JSON.stringify({ studentId, ...(await store.progressOf(studentId)) })}\n`);
    return exitCodes.ended;
  } finally {
    await store.close();
  }
}
