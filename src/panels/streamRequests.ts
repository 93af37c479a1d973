/** Answers what the stream panel's page asks. It knows nothing of VS Code; `streamPanels.ts` gives it what it needs. */
import { displayText } from '../base/byteText';
import type { Localizer } from '../base/localize';
import type { StreamKey } from '../bus';
import type { ErrorData } from '../protocol/envelope';
import type {
  ConnectionView,
  CopyTarget,
  EntriesQuery,
  EntryAction,
  PanelSession,
  StreamPanelContract,
} from '../protocol/streamPanel';
import { PanelError } from './panelError';
import type { RequestHandlers } from './panelHost';
import { commandLine, entryCommands, streamCommands } from './redisCli';
import type { EntryFacts, StreamFacts, StreamReader } from './streamReader';
import { detailView, overviewView, pageView, payloadText } from './streamViews';
import { copiedValue } from './valueText';

/** What the answers need from around them. */
export interface StreamRequestDeps {
  readonly key: StreamKey;
  readonly reader: StreamReader;
  readonly l10n: Localizer;
  session(): PanelSession;
  connection(): ConnectionView;
  /** Puts a failure of reading into words; `what` completes "Cannot read …". */
  describeFailure(error: unknown, what: string): ErrorData;
  copyText(text: string): Promise<void>;
  openValue(id: string, field: number): Promise<void>;
  openPanel(stream: string, id: string | undefined): void;
  runCommand(command: string): Promise<void>;
  /** Connects when nothing is connected; rejects when that fails. */
  connect(signal: AbortSignal): Promise<void>;
  /** Asks people and does it; rejects when it could not be asked. */
  act(action: EntryAction): Promise<void>;
  onSelected(id: string | null): void;
}

/** The largest page that is answered, whatever is asked. */
const maxPageEntries = 500;

/** The handlers of one panel. */
export function streamRequests(deps: StreamRequestDeps): RequestHandlers<StreamPanelContract> {
  const { key, reader, l10n } = deps;
  const name = displayText(key);
  const offered = new Set<string>();
  let deadLetters: StreamFacts['deadLetters'] = null;

  const reading = async <T>(what: string, read: () => Promise<T>): Promise<T> => {
    try {
      return await read();
    } catch (error) {
      const data = PanelError.is(error) ? error.data : deps.describeFailure(error, what);
      if (data.nextStep) offered.add(data.nextStep.command);
      throw new PanelError(data, { cause: error });
    }
  };
  const readEntry = async (id: string, signal: AbortSignal): Promise<EntryFacts> => {
    const facts = await reading(l10n.t('entry {0} of {1}', displayText(id), name), () => reader.entry(id, signal));
    if (!facts) throw new PanelError(refused(l10n.t('{0} is not an entry id.', displayText(id.slice(0, 100)))));
    return facts;
  };

  return {
    session: () => deps.session(),
    overview: async (_, signal) => {
      const facts = await reading(name, () => reader.overview(signal));
      deadLetters = facts.deadLetters;
      return overviewView(key, deps.connection(), facts);
    },
    entries: async (query: EntriesQuery, signal) => {
      const count = Math.min(maxPageEntries, Math.max(1, Math.trunc(query.count)));
      return pageView(await reading(l10n.t('entries of {0}', name), () => reader.entries({ ...query, count }, signal)));
    },
    entry: async ({ id }, signal) => detailView(key, await readEntry(id, signal), l10n),
    openValue: async ({ id, field }) => {
      await deps.openValue(id, field);
      return null;
    },
    openDeadLetters: () => {
      if (!deadLetters) throw new PanelError(refused(l10n.t('The stream {0} has no dead letters.', name)));
      deps.openPanel(deadLetters.key, undefined);
      return null;
    },
    openEntry: ({ stream, id }) => {
      deps.openPanel(stream, id);
      return null;
    },
    nextStep: async ({ command }) => {
      if (!offered.has(command))
        throw new PanelError(refused(l10n.t('The panel asked for a command that was not offered.')));
      await deps.runCommand(command);
      return null;
    },
    copy: async (target, signal) => {
      await deps.copyText(await copiedText(target, signal, { ...deps, reading, readEntry }));
      return null;
    },
    connect: async (_, signal) => {
      await reading(name, () => deps.connect(signal));
      return null;
    },
    act: async (action) => {
      await reading(l10n.t('entry {0} of {1}', displayText(action.id), name), () => deps.act(action));
      return null;
    },
    selected: ({ id }) => {
      deps.onSelected(id);
      return null;
    },
  };
}

interface CopyDeps extends StreamRequestDeps {
  reading<T>(what: string, read: () => Promise<T>): Promise<T>;
  readEntry(id: string, signal: AbortSignal): Promise<EntryFacts>;
}

async function copiedText(target: CopyTarget, signal: AbortSignal, deps: CopyDeps): Promise<string> {
  const { key, reader, l10n } = deps;
  switch (target.what) {
    case 'stream':
      return /[\ud800-\udfff]/u.test(key) ? commandLine(key) : key;
    case 'id':
      return target.id;
    case 'commands': {
      if (target.id === null) return streamCommands(key).join('\n');
      const { id, standings } = await deps.readEntry(target.id, signal);
      return entryCommands(
        key,
        id,
        standings.map(({ group }) => group),
      ).join('\n');
    }
    case 'payload':
    case 'value': {
      const what = l10n.t('entry {0} of {1}', displayText(target.id), displayText(key));
      const entry = await deps.reading(what, () => reader.fields(target.id, signal));
      if (!entry)
        throw new PanelError(refused(l10n.t('The stream has no entry {0} any more.', displayText(target.id))));
      if (target.what === 'payload') return payloadText(entry);
      const value = entry.fields[2 * target.field + 1];
      if (!value) throw new PanelError(refused(l10n.t('The entry has no such field any more.')));
      return copiedValue(value);
    }
  }
}

function refused(message: string): ErrorData {
  return { reason: 'refused', message, retriable: false };
}
