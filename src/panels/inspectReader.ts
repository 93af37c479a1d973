/**
 * Reads a stream over a live connection with the calls that only read. A page takes a first small read, from which it learns how
 * large entries are, and then one for the rest; a stream's dead letters are looked for once and then known.
 */
import type { Entry, StreamKey } from '../bus';
import type { GroupDescription } from '../bus/inspect/groups';
import type { LiveConnection } from '../connections/liveConnection';
import type { Figure } from '../protocol/streamPanel';
import { entryIdOf } from './entryIds';
import { readEntries } from './entryPages';
import { readEntry } from './entryReads';
import { Observations } from './observations';
import type { EntriesFacts, EntryFacts, StreamFacts, StreamReader } from './streamReader';

/** Reads one stream of one connection. */
export class InspectReader implements StreamReader {
  /** Keys that hold dead letters of the stream; undefined until they were looked for. */
  private deadKeys: readonly StreamKey[] | undefined;
  private readonly observations = new Observations();

  constructor(
    private readonly connection: LiveConnection,
    private readonly key: StreamKey,
  ) {}

  overview(signal: AbortSignal): Promise<StreamFacts> {
    const { key } = this;
    return this.connection.read(
      async (inspect) => {
        const [{ info, memoryBytes, timeToLiveMs, serverTimeMs }, groups, dead] = await Promise.all([
          inspect.describeStream(key),
          inspect.describeGroups(key),
          inspect.deadLettersOf(key),
        ]);
        this.deadKeys = dead.map((stream) => stream.key);
        return {
          length: info.length,
          firstId: info.firstEntry?.id ?? null,
          lastId: info.lastEntry?.id ?? null,
          groups: groups.map(({ name, consumers, pending, lag, lastDeliveredId }) => ({
            name,
            consumers,
            pending,
            lag: figureView(lag),
            lastDeliveredId,
          })),
          deadLetters: dead.find(({ length }) => length > 0) ?? null,
          memoryBytes: figureView(memoryBytes),
          timeToLiveMs,
          serverTimeMs,
        };
      },
      { signal },
    );
  }

  entries(query: Parameters<StreamReader['entries']>[0], signal: AbortSignal): Promise<EntriesFacts> {
    return this.connection.read((inspect) => readEntries(inspect, this.key, query, signal), { signal });
  }

  async entry(text: string, signal: AbortSignal): Promise<EntryFacts | null> {
    const id = entryIdOf(text);
    if (id === null) return null;
    return this.connection.read(
      async (inspect) => {
        this.deadKeys ??= (await inspect.deadLettersOf(this.key)).map((stream) => stream.key);
        const { key, deadKeys, observations } = this;
        return readEntry(inspect, { key, id, deadKeys, observations }, signal);
      },
      { signal },
    );
  }

  async fields(text: string, signal: AbortSignal): Promise<Entry | null> {
    const id = entryIdOf(text);
    if (id === null) return null;
    return this.connection.read((inspect) => inspect.entryById(this.key, id), { signal });
  }
}

function figureView(figure: GroupDescription['lag']): Figure {
  return figure.kind === 'unknown' ? { kind: 'unknown', reason: figure.reason } : figure;
}
