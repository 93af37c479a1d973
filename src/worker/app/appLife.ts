import { setTimeout as sleep } from 'node:timers/promises';
import { BusError } from '../../bus';
import { exitCodes } from '../run/exitCodes';
import { guardProcess } from '../run/guardProcess';
import type { GuardedProcess } from '../run/guardProcess';
import { HandlerFileError } from '../run/handlerFile';
import { failureDetails, thrownText } from '../run/logLines';
import type { RunLog } from '../run/logLines';
import { DatabaseError } from '../runs/runStore';
import { isConfigError } from './appOptions';

/** How the process ends, and why. */
export interface Ending {
  readonly exitCode: number;
  readonly why: string;
}

/** What runs until the process is asked to end. */
export interface AppPart {
  /** Ends in order; what takes longer than the deadline is left. */
  close(): Promise<void>;
}

/** Parts that close at the same time, so that each of them has the whole time that a close is given. */
export class PartsTogether implements AppPart {
  private readonly parts: AppPart[] = [];

  add<Part extends AppPart>(part: Part): Part {
    this.parts.push(part);
    return part;
  }

  async close(): Promise<void> {
    const closed = await Promise.allSettled(this.parts.map((part) => part.close()));
    for (const result of closed) if (result.status === 'rejected') throw result.reason;
  }
}

/** How long the last steps of a close may take beyond the time that handlers and requests are given. */
const closeSlackMs = 3000;

/**
 * The life of a command that runs until SIGINT or SIGTERM: starts its parts, waits for the first reason to end, closes the parts, the
 * last first, within a deadline, and ends the process. A second signal ends it at once.
 */
export class AppLife {
  private readonly process: GuardedProcess;
  private readonly parts: AppPart[] = [];
  private readonly ended: Promise<Ending>;
  private resolveEnded: (ending: Ending) => void = () => undefined;

  constructor(
    private readonly log: RunLog,
    private readonly deadlineMs: number,
  ) {
    this.ended = new Promise((resolve) => {
      this.resolveEnded = resolve;
    });
    this.process = guardProcess({
      signalled: (signal) => {
        this.end(exitCodes.ended, signal);
      },
      exitCalled: (code) => {
        this.fail(exitCodes.handlerEndedProcess, `The handler called process.exit(${code})`);
      },
      threwOutside: (thrown) => {
        const sentence = `Something failed outside of any message: ${thrownText(thrown)}`;
        this.fail(exitCodes.handlerEndedProcess, sentence, failureDetails(thrown));
      },
    });
  }

  /** Whether there is a reason to end already. */
  isEnding = false;

  /** Takes a part to close at the end. */
  add<Part extends AppPart>(part: Part): Part {
    this.parts.push(part);
    return part;
  }

  /** Gives a reason to end; the first counts. */
  end(exitCode: number, why: string): void {
    this.isEnding = true;
    this.resolveEnded({ exitCode, why });
  }

  /** Ends for a failure; `details` in place of a message that may quote payload. */
  fail(exitCode: number, message: string, details?: Readonly<Record<string, unknown>>): void {
    this.log.tell('error', 'failed', details ?? { error_message: message }, message);
    this.end(exitCode, 'failed');
  }

  /** Starts, runs until there is a reason to end, closes and ends the process. */
  async run(start: () => Promise<void>): Promise<never> {
    start().catch((error: unknown) => {
      this.fail(exitCodeOf(error), failureTextOf(error), isOwn(error) ? undefined : failureDetails(error));
    });
    const { exitCode, why } = await this.ended;
    this.log.info(`Closing: ${why}`);
    const closed = this.closeAll().then(() => true);
    if (!(await Promise.race([closed, sleep(this.deadlineMs + closeSlackMs, false)])))
      this.log.error('Closing took too long; what is held stays pending until somebody takes it over');
    return this.process.exit(exitCode);
  }

  private async closeAll(): Promise<void> {
    for (const part of this.parts.reverse()) {
      try {
        await part.close();
      } catch (error) {
        this.log.tell('warn', 'close-failed', failureDetails(error), `Closing: ${failureTextOf(error)}`);
      }
    }
  }
}

function exitCodeOf(error: unknown): number {
  if (HandlerFileError.is(error)) return exitCodes.handlerFile;
  return isConfigError(error) ? exitCodes.usage : exitCodes.failed;
}

function failureTextOf(error: unknown): string {
  return isOwn(error) ? error.message : thrownText(error);
}

/** Whether an error's message is ours: it says what to do, and holds no payload. */
function isOwn(error: unknown): error is Error {
  return HandlerFileError.is(error) || isConfigError(error) || BusError.is(error) || error instanceof DatabaseError;
}
