import { readFileSync, rmSync } from 'node:fs';
import { UsageError } from '../usageError';

/** Who launched the worker and wants to know of it: a loopback port and the secret that it expects first. */
export interface LaunchLifeline {
  readonly port: number;
  readonly token: string;
}

/** What a worker may do besides reading, acknowledging and giving back. Nothing that is not granted: a debug session leaves no trace. */
export interface LaunchGrant {
  readonly createGroup: boolean;
  readonly reclaim: boolean;
  readonly deadLetter: boolean;
  /** Keep the delivery journal of the stream. Default false. */
  readonly journal?: boolean;
}

/** What an editor hands to the worker that it launches; the other side is `src/debugging/launchFile.ts`. */
export interface LaunchFile {
  readonly version: 1;
  /** With its secrets. */
  readonly url: string;
  readonly lifeline: LaunchLifeline;
  readonly stream: string;
  readonly group: string;
  readonly consumer: string;
  readonly grant: LaunchGrant;
  /** Absolute path; the sample's handler when left out. */
  readonly handler?: string;
  readonly maxMessages?: number;
  /** Where the group starts when the worker creates it: `0`, `$` or an entry id; default `$`. */
  readonly from?: string;
  /** The group is the worker's own: it begins anew and is removed at the end, unless somebody else is in it. */
  readonly ownGroup?: {
    /** Consumers of earlier sessions, which do not count as somebody else. */
    readonly formerConsumers: readonly string[];
  };
  /** A link to the stream's panel; an entry id at its end leads to the entry. */
  readonly entryLink?: string;
}

/** Reads a launch file and deletes it at once, also when it is wrong. */
export function takeLaunchFile(path: string): LaunchFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    throw new UsageError(`The launch file ${path} cannot be read (${why}): a launch file works once only`);
  } finally {
    rmSync(path, { force: true });
  }
  return parseLaunchFile(text);
}

/** Reads the text of a launch file; the message of what it throws names the field and never a value. */
export function parseLaunchFile(text: string): LaunchFile {
  const root = new Fields(parseJson(text), 'launch file');
  if (root.number('version') !== 1) throw new UsageError('The launch file is of another version of the extension');
  const lifeline = root.object('lifeline');
  const grant = root.object('grant');
  const journal = grant.optionalBoolean('journal');
  const handler = root.optionalText('handler');
  const maxMessages = root.optionalNumber('maxMessages');
  const entryLink = root.optionalText('entryLink');
  const from = root.optionalText('from');
  const ownGroup = root.optionalObject('ownGroup');
  return {
    version: 1,
    url: root.text('url'),
    lifeline: { port: lifeline.number('port'), token: lifeline.text('token') },
    stream: root.text('stream'),
    group: root.text('group'),
    consumer: root.text('consumer'),
    grant: {
      createGroup: grant.boolean('createGroup'),
      reclaim: grant.boolean('reclaim'),
      deadLetter: grant.boolean('deadLetter'),
      ...(journal === undefined ? {} : { journal }),
    },
    ...(handler === undefined ? {} : { handler }),
    ...(maxMessages === undefined ? {} : { maxMessages }),
    ...(entryLink === undefined ? {} : { entryLink }),
    ...(from === undefined ? {} : { from }),
    ...(ownGroup === undefined ? {} : { ownGroup: { formerConsumers: ownGroup.texts('formerConsumers') } }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would quote the text, which holds secrets.
    throw new UsageError('The launch file is not JSON');
  }
}

class Fields {
  private readonly values: Readonly<Record<string, unknown>>;

  constructor(
    value: unknown,
    private readonly path: string,
  ) {
    if (typeof value !== 'object' || value === null) throw new UsageError(`${path}: expected an object`);
    this.values = { ...value };
  }

  text(name: string): string {
    const value = this.values[name];
    if (typeof value === 'string' && value !== '') return value;
    throw this.expected(name, 'text');
  }

  number(name: string): number {
    const value = this.values[name];
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
    throw this.expected(name, 'a whole number above 0');
  }

  boolean(name: string): boolean {
    const value = this.values[name];
    if (typeof value === 'boolean') return value;
    throw this.expected(name, 'true or false');
  }

  object(name: string): Fields {
    return new Fields(this.values[name], `${this.path}, ${name}`);
  }

  optionalText(name: string): string | undefined {
    return this.values[name] === undefined ? undefined : this.text(name);
  }

  optionalBoolean(name: string): boolean | undefined {
    return this.values[name] === undefined ? undefined : this.boolean(name);
  }

  optionalNumber(name: string): number | undefined {
    return this.values[name] === undefined ? undefined : this.number(name);
  }

  optionalObject(name: string): Fields | undefined {
    return this.values[name] === undefined ? undefined : this.object(name);
  }

  texts(name: string): readonly string[] {
    const value = this.values[name];
    if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
    throw this.expected(name, 'a list of texts');
  }

  private expected(name: string, what: string): UsageError {
    return new UsageError(`${this.path}, ${name}: expected ${what}`);
  }
}
