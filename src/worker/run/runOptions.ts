import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { UsageError } from '../usageError';
import { takeLaunchFile } from './launchFile';
import type { LaunchFile, LaunchGrant, LaunchLifeline } from './launchFile';

/** All that `run` is told. Times are milliseconds. */
export interface RunOptions {
  /** With its secrets; never printed. */
  readonly url: string;
  readonly stream: string;
  readonly group: string;
  readonly consumer: string;
  /** Absolute path; undefined for the sample's handler. */
  readonly handler: string | undefined;
  readonly maxMessages: number | undefined;
  readonly grant: LaunchGrant;
  /** Where a group that is created starts: `0`, `$` or an entry id. */
  readonly from: string;
  readonly concurrency: number;
  readonly prefetch: number;
  readonly minIdleMs: number;
  readonly heartbeatMs: number | undefined;
  /** 0 for none. */
  readonly handlerTimeoutMs: number;
  /** How long handlers may go on when the worker closes, and how long after they were asked to stop. */
  readonly closeMs: number;
  readonly abortGraceMs: number;
  readonly log: 'text' | 'json';
  /** Where monitoring is answered on loopback; undefined for nowhere. */
  readonly metricsPort: number | undefined;
  /** Of the editor that launched it, if one did. */
  readonly lifeline: LaunchLifeline | undefined;
  readonly entryLink: string | undefined;
  /** Set when the group is the worker's own, to be begun anew and removed at the end. */
  readonly ownGroup: LaunchFile['ownGroup'];
}

const flags = {
  'launch-file': { type: 'string' },
  url: { type: 'string' },
  stream: { type: 'string' },
  group: { type: 'string' },
  consumer: { type: 'string' },
  handler: { type: 'string' },
  'max-messages': { type: 'string' },
  from: { type: 'string' },
  concurrency: { type: 'string' },
  'min-idle-ms': { type: 'string' },
  'heartbeat-ms': { type: 'string' },
  'handler-timeout-ms': { type: 'string' },
  'close-ms': { type: 'string' },
  'create-group': { type: 'boolean' },
  reclaim: { type: 'boolean' },
  'dead-letter': { type: 'boolean' },
  journal: { type: 'boolean' },
  log: { type: 'string' },
  'metrics-port': { type: 'string' },
} as const;

/**
 * Reads the arguments of `run`; what they leave out comes from REDIS_STREAMS_URL, _STREAM, _GROUP, _CONSUMER, _HANDLER, _LOG and
 * _METRICS_PORT.
 */
export function readRunOptions(args: readonly string[], env: NodeJS.ProcessEnv): RunOptions {
  const { values } = parseArgs({ args: [...args], options: flags });
  const launchFile = values['launch-file'];
  if (launchFile !== undefined) {
    if (Object.keys(values).length > 1) throw new UsageError('--launch-file holds everything: no other option with it');
    return fromLaunchFile(takeLaunchFile(launchFile));
  }
  const required = (flag: 'url' | 'stream' | 'group', variable: string): string => {
    const value = values[flag] ?? env[variable];
    if (value === undefined || value === '') throw new UsageError(`run needs --${flag} (or ${variable})`);
    return value;
  };
  const number = (
    flag: Exclude<keyof typeof values, 'create-group' | 'reclaim' | 'dead-letter' | 'journal'>,
  ): number | undefined => wholeNumber(flag, values[flag]);
  const handler = values.handler ?? env.REDIS_STREAMS_HANDLER;
  const maxMessages = number('max-messages');
  if (maxMessages === 0) throw new UsageError('--max-messages: expected at least 1');
  const log = values.log ?? env.REDIS_STREAMS_LOG ?? 'text';
  if (log !== 'text' && log !== 'json') throw new UsageError('--log: expected text or json');
  const concurrency = number('concurrency') ?? 10;
  return {
    url: required('url', 'REDIS_STREAMS_URL'),
    stream: required('stream', 'REDIS_STREAMS_STREAM'),
    group: required('group', 'REDIS_STREAMS_GROUP'),
    consumer: values.consumer ?? env.REDIS_STREAMS_CONSUMER ?? defaultConsumer(),
    handler: handler === undefined ? undefined : path.resolve(handler),
    maxMessages,
    grant: {
      createGroup: values['create-group'] ?? false,
      reclaim: values.reclaim ?? false,
      deadLetter: values['dead-letter'] ?? false,
      journal: values.journal ?? false,
    },
    from: values.from ?? '0',
    concurrency,
    prefetch: concurrency,
    minIdleMs: number('min-idle-ms') ?? 30_000,
    heartbeatMs: number('heartbeat-ms'),
    handlerTimeoutMs: number('handler-timeout-ms') ?? 30_000,
    closeMs: number('close-ms') ?? 10_000,
    abortGraceMs: 2000,
    log,
    metricsPort: wholeNumber('metrics-port', values['metrics-port'] ?? env.REDIS_STREAMS_METRICS_PORT, 65_535),
    lifeline: undefined,
    entryLink: undefined,
    ownGroup: undefined,
  };
}

/**
 * Under a debugger one message is held at a time, its time is never up, and beats come every second: then nobody who waits 3 s
 * before reclaiming can take it.
 */
function fromLaunchFile(file: LaunchFile): RunOptions {
  return {
    url: file.url,
    stream: file.stream,
    group: file.group,
    consumer: file.consumer,
    handler: file.handler,
    maxMessages: file.maxMessages,
    grant: file.grant,
    from: file.from ?? '$',
    concurrency: 1,
    prefetch: 0,
    minIdleMs: 30_000,
    heartbeatMs: 1000,
    handlerTimeoutMs: 0,
    closeMs: 0,
    abortGraceMs: 1000,
    log: 'text',
    metricsPort: undefined,
    lifeline: file.lifeline,
    entryLink: file.entryLink,
    ownGroup: file.ownGroup,
  };
}

function wholeNumber(flag: string, text: string | undefined, max = 1e15): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UsageError(`--${flag}: expected a whole number, got ${JSON.stringify(text.slice(0, 40))}`);
}

function defaultConsumer(): string {
  return `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
}
