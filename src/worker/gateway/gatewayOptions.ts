import { appFlags, readAppOptions, readWorkersOptions, requireShared, workerFlags } from '../app/appOptions';
import type { AppOptions, WorkersOptions } from '../app/appOptions';
import { Settings } from '../app/settings';
import { UsageError } from '../usageError';

/** All that `gateway` is told. */
export interface GatewayOptions extends AppOptions {
  readonly host: string;
  readonly port: number;
  /** A secret; undefined when everybody may submit. */
  readonly token: string | undefined;
  /** 0 for no limit. */
  readonly ratePerMinute: number;
  readonly maxBodyBytes: number;
  /** How many workers run in this process, and how. */
  readonly workers: number;
  readonly workersOptions: WorkersOptions;
}

/** The flags of the gateway besides those of the application and of its workers. */
export const gatewayFlags = ['host', 'port', 'rate-per-minute', 'max-body-bytes', 'workers'];
const shortestToken = 16;

/** Reads the arguments of `gateway`. */
export function readGatewayOptions(args: readonly string[], env: NodeJS.ProcessEnv): GatewayOptions {
  const settings = new Settings(args, env, { valued: [...appFlags, ...workerFlags, ...gatewayFlags] });
  const app = readAppOptions(settings, args);
  const workers = settings.whole('workers', { default: 0, min: 0, max: 100 });
  if (workers === 0) requireShared(app, 'gateway');
  const host = settings.text('host') ?? '127.0.0.1';
  const token = settings.secret('REDIS_STREAMS_TOKEN');
  if (token !== undefined && (token.length < shortestToken || /\s/.test(token)))
    throw new UsageError(`REDIS_STREAMS_TOKEN: expected at least ${shortestToken} characters without spaces`);
  if (token === undefined && !isLoopback(host)) {
    throw new UsageError(
      `--host ${host} can be reached from other machines: set REDIS_STREAMS_TOKEN, which clients send as "Authorization: Bearer …"`,
    );
  }
  return {
    ...app,
    host,
    port: settings.whole('port', { default: 8787, min: 0, max: 65_535 }),
    token,
    ratePerMinute: settings.whole('rate-per-minute', { default: 120, min: 0, max: 1_000_000 }),
    maxBodyBytes: settings.whole('max-body-bytes', { default: 65_536, min: 128, max: 16_777_216 }),
    workers,
    workersOptions: readWorkersOptions(settings, app),
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
