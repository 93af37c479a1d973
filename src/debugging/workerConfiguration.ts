import path from 'node:path';
import type { Localizer } from '../base/localize';

/** The debug type that package.json contributes. */
export const workerDebugType = 'redis-streams-worker';

/** A launch configuration that was checked; what each attribute means is in package.json. */
export interface WorkerConfiguration {
  readonly name: string;
  readonly connection: string;
  readonly stream: string;
  readonly group: string | undefined;
  readonly consumer: string | undefined;
  /** Absolute path; undefined for the sample's handler. */
  readonly handler: string | undefined;
  readonly mode: 'isolated' | 'join';
  readonly from: string | undefined;
  readonly maxMessages: number | undefined;
  readonly runtimeExecutable: string | undefined;
  readonly runtimeArgs: readonly string[];
  readonly console: 'internalConsole' | 'integratedTerminal';
  readonly allow: Readonly<Record<(typeof grants)[number], boolean>>;
}

/** What is wrong with a configuration: the attribute and what was expected. */
export interface ConfigurationProblem {
  readonly attribute: string;
  readonly message: string;
}

const modes = ['isolated', 'join'] as const;
const consoles = ['internalConsole', 'integratedTerminal'] as const;
const grants = ['createGroup', 'reclaim', 'deadLetter', 'journal'] as const;

/** Checks a launch configuration of the type `redis-streams-worker`; the first thing that is wrong is answered. */
export function readWorkerConfiguration(
  raw: Readonly<Record<string, unknown>>,
  { l10n, folder }: { readonly l10n: Localizer; readonly folder: string | undefined },
): { readonly configuration: WorkerConfiguration } | { readonly problem: ConfigurationProblem } {
  try {
    return { configuration: read(new Attributes(raw, l10n), folder, l10n) };
  } catch (error) {
    if (error instanceof AttributeError) return { problem: { attribute: error.attribute, message: error.message } };
    throw error;
  }
}

function read(attributes: Attributes, folder: string | undefined, l10n: Localizer): WorkerConfiguration {
  const mode = attributes.oneOf('mode', modes) ?? 'isolated';
  const group = attributes.optionalText('group');
  if (mode === 'join' && group === undefined)
    throw new AttributeError('group', l10n.t('group: expected the name of the group to join.'));
  const handler = attributes.optionalText('handler');
  if (handler !== undefined && !path.isAbsolute(handler) && folder === undefined)
    throw new AttributeError('handler', l10n.t('handler: expected an absolute path, since no folder is open.'));
  const from = attributes.optionalText('from');
  if (from !== undefined && from !== 'group' && from !== '$' && from !== '0' && !/^\d+-\d+$/.test(from))
    throw new AttributeError('from', l10n.t('from: expected group, $, 0 or an entry id such as 1700000000000-0.'));
  if (from !== undefined && mode === 'join')
    throw new AttributeError('from', l10n.t('from: only an isolated session chooses where its group starts.'));
  const allow = attributes.flags('allow', grants);
  if (allow.length > 0 && mode === 'isolated')
    throw new AttributeError(
      'allow',
      l10n.t('allow: is for the mode join; an isolated session has a group of its own.'),
    );
  return {
    name: attributes.optionalText('name') ?? 'Redis Streams worker',
    connection: attributes.text('connection'),
    stream: attributes.text('stream'),
    group,
    consumer: attributes.optionalText('consumer'),
    handler: handler === undefined ? undefined : path.resolve(folder ?? '/', handler),
    mode,
    from,
    maxMessages: attributes.positive('maxMessages'),
    runtimeExecutable: attributes.optionalText('runtimeExecutable'),
    runtimeArgs: attributes.texts('runtimeArgs'),
    console: attributes.oneOf('console', consoles) ?? 'internalConsole',
    allow: {
      createGroup: allow.includes('createGroup'),
      reclaim: allow.includes('reclaim'),
      deadLetter: allow.includes('deadLetter'),
      journal: allow.includes('journal'),
    },
  };
}

class AttributeError extends Error {
  constructor(
    readonly attribute: string,
    message: string,
  ) {
    super(message);
  }
}

class Attributes {
  constructor(
    private readonly raw: Readonly<Record<string, unknown>>,
    private readonly l10n: Localizer,
  ) {}

  text(name: string): string {
    const value = this.optionalText(name);
    if (value !== undefined) return value;
    throw new AttributeError(name, this.l10n.t('{0}: is missing.', name));
  }

  optionalText(name: string): string | undefined {
    const value = this.raw[name];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && value !== '') return value;
    throw new AttributeError(name, this.l10n.t('{0}: expected text that is not empty.', name));
  }

  positive(name: string): number | undefined {
    const value = this.raw[name];
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
    throw new AttributeError(name, this.l10n.t('{0}: expected a whole number of at least 1.', name));
  }

  oneOf<Value extends string>(name: string, values: readonly Value[]): Value | undefined {
    const value = this.raw[name];
    if (value === undefined) return undefined;
    const known = values.find((candidate) => candidate === value);
    if (known !== undefined) return known;
    throw new AttributeError(name, this.l10n.t('{0}: expected one of {1}.', name, values.join(', ')));
  }

  texts(name: string): readonly string[] {
    const value = this.raw[name];
    if (value === undefined) return [];
    if (Array.isArray(value) && value.every((item): item is string => typeof item === 'string')) return value;
    throw new AttributeError(name, this.l10n.t('{0}: expected a list of texts.', name));
  }

  flags(name: string, known: readonly string[]): readonly string[] {
    const given = this.texts(name);
    if (given.every((flag) => known.includes(flag))) return given;
    throw new AttributeError(name, this.l10n.t('{0}: expected a list of {1}.', name, known.join(', ')));
  }
}
