/**
 * The action log: every write of the extension host as JSON lines in a local file. What was meant is written before it is sent, and
 * what came of it afterwards, so that an action without a reply stays known as one. Never a payload, never a secret.
 */
import { appendFile, mkdir, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import type { ItemResult, PendingBefore, Undo, VerbName } from './verbs/verb';

/** Who did what to what; the first line of an action. */
export interface ActionStart {
  readonly action: string;
  readonly kind: 'sent';
  readonly at: string;
  readonly verb: VerbName;
  readonly connection: {
    readonly id: string;
    readonly name: string;
    readonly environment: string;
    readonly url: string;
  };
  /** Names as text without loss; bytes that are no text are lone surrogates. */
  readonly stream: string;
  readonly group?: string;
  /** False when scripts were not to be had, and so nothing was checked on the server. */
  readonly guarded: boolean;
  readonly choices: Readonly<Record<string, string | number | boolean>>;
  readonly undo?: Undo;
  /** How many items the action has in all; each call has its own lines. */
  readonly total: number;
}

/** What came of at most 100 items of an action, and how each was before. */
export interface ActionReply {
  readonly action: string;
  readonly kind: 'reply';
  readonly at: string;
  readonly items: readonly LoggedItem[];
  /** Why a call failed; `ambiguous` when it may have been carried out although no reply came. */
  readonly error?: { readonly reason: string; readonly ambiguous: boolean };
}

/** One item of an action. */
export interface LoggedItem extends ItemResult {
  readonly before?: PendingBefore;
  /** After an error: what was found when the state was read again. */
  readonly found?: string;
}

/** The last line of an action that was taken back. */
export interface ActionUndone {
  readonly action: string;
  readonly kind: 'undone';
  readonly at: string;
  readonly by: string;
}

/** One line of the log. */
export type ActionLine = ActionStart | ActionReply | ActionUndone;

/** An action put together from its lines. */
export interface LoggedAction {
  readonly start: ActionStart;
  readonly items: readonly LoggedItem[];
  readonly isUndone: boolean;
}

/** Where actions are written down. */
export interface ActionLog {
  /** Rejects when it cannot be written: then nothing may be done either. */
  append(line: ActionLine): Promise<void>;
  /** The latest actions, newest first. */
  recent(): Promise<readonly LoggedAction[]>;
  /** The file, made when there is none yet. */
  file(): Promise<string>;
}

/** A log in a folder; the file is put aside when it is large, and the one before it dropped. */
export class FileActionLog implements ActionLog {
  private writing: Promise<void> = Promise.resolve();
  private hasWritten = false;

  constructor(
    private readonly folder: string,
    private readonly maxBytes = 8_000_000,
  ) {}

  append(line: ActionLine): Promise<void> {
    const written = this.writing.then(() => this.write(`${JSON.stringify(line)}\n`));
    this.writing = written.catch(() => {
      // Told to whoever appended; the next line is tried on its own.
    });
    return written;
  }

  async recent(): Promise<readonly LoggedAction[]> {
    await this.writing;
    const lines = [...(await readLines(this.older())), ...(await readLines(this.current()))];
    const actions = new Map<string, { start: ActionStart; items: LoggedItem[]; isUndone: boolean }>();
    for (const line of lines) {
      if (line.kind === 'sent') actions.set(line.action, { start: line, items: [], isUndone: false });
      const action = actions.get(line.action);
      if (line.kind === 'reply') action?.items.push(...line.items);
      if (line.kind === 'undone' && action) action.isUndone = true;
    }
    return [...actions.values()].reverse();
  }

  async file(): Promise<string> {
    await this.writing;
    await mkdir(this.folder, { recursive: true });
    await appendFile(this.current(), '', { mode: 0o600 });
    return this.current();
  }

  private async write(text: string): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const size = await sizeOf(this.current());
    if (size > this.maxBytes) await rename(this.current(), this.older());
    // A line that an earlier process left half written must not swallow the first of this one.
    const start = this.hasWritten || size === 0 ? '' : '\n';
    this.hasWritten = true;
    await appendFile(this.current(), start + text, { mode: 0o600 });
  }

  private current(): string {
    return path.join(this.folder, 'actions.jsonl');
  }

  private older(): string {
    return path.join(this.folder, 'actions.1.jsonl');
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

async function readLines(file: string): Promise<readonly ActionLine[]> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => {
    const value = parsed(line);
    return isActionLine(value) ? [value] : [];
  });
}

/** A line may be half written when the process died. */
function parsed(line: string): unknown {
  try {
    return line === '' ? undefined : JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isActionLine(value: unknown): value is ActionLine {
  if (typeof value !== 'object' || value === null || !('action' in value) || !('kind' in value)) return false;
  return typeof value.action === 'string' && ['sent', 'reply', 'undone'].includes(String(value.kind));
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
