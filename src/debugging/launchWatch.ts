import { fork } from 'node:child_process';

/** Somebody outside of this process who clears away what a launch left when it came to nothing. */
export interface LaunchWatch {
  /** The worker runs and looks after itself from here on. */
  launched(): void;
  /** The launch is not wanted any more; does nothing once it came to something. The death of this process does the same. */
  abandon(): void;
}

/**
 * Starts `dist/worker.js watch-launch` beside a launch: a process that waits for a debugger which is gone can be ended by nobody inside
 * of it. A launch is not refused when that fails.
 */
export function watchLaunch(workerFile: string, launchFile: string, failed: (error: Error) => void): LaunchWatch {
  const child = fork(workerFile, ['watch-launch', launchFile], { execArgv: [], stdio: 'ignore', detached: true });
  child.on('error', failed);
  child.unref();
  child.channel?.unref();
  return {
    launched: () => {
      if (child.connected) child.send('launched', () => undefined);
    },
    abandon: () => {
      if (child.connected) child.disconnect();
    },
  };
}
