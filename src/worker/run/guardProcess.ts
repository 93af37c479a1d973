/** What happened to the process that the worker did not do itself. */
export interface ProcessEvents {
  /** The first SIGINT or SIGTERM; the second ends the process at once. */
  signalled(signal: NodeJS.Signals): void;
  /** The handler called process.exit. */
  exitCalled(code: number): void;
  /** Something threw outside of any message: in a timer, an event listener or a promise that nobody awaited. */
  threwOutside(thrown: unknown): void;
}

/** The process as the worker ends it. */
export interface GuardedProcess {
  /** Ends the process, whatever still runs in it. */
  exit(code: number): never;
}

/** Thrown into a handler that calls process.exit, in place of ending the process with its messages unsettled. */
export class ProcessExitError extends Error {
  override readonly name = 'ProcessExitError';

  constructor(readonly exitCode: number) {
    super(`The handler called process.exit(${exitCode})`);
  }
}

const signalExitCodes = { SIGINT: 130, SIGTERM: 143 } as const;

/** Takes hold of the ways in which a handler or a person ends the process, for the rest of the process's life. */
export function guardProcess(events: ProcessEvents): GuardedProcess {
  const exit = process.exit.bind(process);
  let isSignalled = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (isSignalled) exit(signalExitCodes[signal]);
      isSignalled = true;
      events.signalled(signal);
    });
  }
  process.exit = (code) => {
    const exitCode = Number(code ?? process.exitCode ?? 0);
    events.exitCalled(exitCode);
    throw new ProcessExitError(exitCode);
  };
  const threw = (thrown: unknown): void => {
    // The handler's exit was told already; what is thrown for it arrives here when nothing catches it.
    if (!(thrown instanceof ProcessExitError)) events.threwOutside(thrown);
  };
  process.on('uncaughtException', threw);
  process.on('unhandledRejection', threw);
  return { exit };
}
