import path from 'node:path';
import type { WorkerConfiguration } from './workerConfiguration';

/** The attribute by which the session of a launch is recognised; no secret. */
export const sessionAttribute = 'redisStreamsSession';

/** A launch configuration of the type `node`. */
export interface NodeConfiguration {
  readonly type: string;
  readonly request: string;
  readonly name: string;
  readonly [attribute: string]: unknown;
}

/** What a `node` launch is made of. */
export interface NodeLaunch {
  readonly configuration: WorkerConfiguration;
  /** The attributes as they were written; what is not ours goes to Node's debugger as it is. */
  readonly raw: Readonly<Record<string, unknown>>;
  readonly extensionPath: string;
  readonly folder: string | undefined;
  readonly launchFile: string;
  readonly session: string;
}

const own = [
  'type',
  'request',
  'connection',
  'stream',
  'group',
  'consumer',
  'handler',
  'mode',
  'from',
  'allow',
  'maxMessages',
];

/** The launch configuration of VS Code's JavaScript debugger for the worker. Holds no secret. */
export function nodeConfiguration({
  configuration,
  raw,
  extensionPath,
  folder,
  launchFile,
  session,
}: NodeLaunch): NodeConfiguration {
  const { name, handler, runtimeExecutable, runtimeArgs, console } = configuration;
  const posix = (file: string): string => file.split(path.sep).join('/');
  const bundle = `${posix(extensionPath)}/dist/**/*.js`;
  const handlerRoot = handler === undefined ? undefined : posix(folder ?? path.dirname(handler));
  const outFiles = [
    bundle,
    ...(handlerRoot === undefined ? [] : [`${handlerRoot}/**/*.(m|c|)js`, '!**/node_modules/**']),
  ];
  const others = Object.fromEntries(Object.entries(raw).filter(([attribute]) => !own.includes(attribute)));
  return {
    // Its own code, but not the sample's handler, is nothing that people want to step into.
    skipFiles: [
      '<node_internals>/**',
      ...['src/bus/**', 'src/base/**', 'src/worker/run/**'].map((part) => `${posix(extensionPath)}/${part}`),
    ],
    outFiles,
    resolveSourceMapLocations: outFiles,
    cwd: folder ?? (handler === undefined ? extensionPath : path.dirname(handler)),
    internalConsoleOptions: 'openOnSessionStart',
    ...others,
    type: 'node',
    request: 'launch',
    name,
    program: path.join(extensionPath, 'dist', 'worker.js'),
    args: ['run', '--launch-file', launchFile],
    sourceMaps: true,
    // Stop asks the worker to end, so that it gives back what it holds; otherwise it would be killed.
    killBehavior: 'polite',
    console,
    runtimeArgs: [...runtimeArgs],
    ...(runtimeExecutable === undefined ? {} : { runtimeExecutable }),
    [sessionAttribute]: session,
  };
}

/** Puts values in for the variables of launch.json that our own attributes may hold; answers the first that it does not know. */
export function substitute(
  text: string,
  {
    folder,
    file,
    home,
    env,
  }: {
    readonly folder: string | undefined;
    readonly file: string | undefined;
    readonly home: string;
    readonly env: Readonly<Record<string, string | undefined>>;
  },
): { readonly text: string } | { readonly unknown: string } {
  let unknown: string | undefined;
  const replaced = text.replace(/\$\{([^}]*)\}/g, (whole, name: string) => {
    const value =
      name === 'workspaceFolder'
        ? folder
        : name === 'file'
          ? file
          : name === 'userHome'
            ? home
            : name.startsWith('env:')
              ? (env[name.slice(4)] ?? '')
              : undefined;
    if (value === undefined) unknown ??= whole;
    return value ?? '';
  });
  return unknown === undefined ? { text: replaced } : { unknown };
}
