/**
 * Reads a stream over a live connection with the calls that only read. A page takes a first small read, from which it learns how
 * large entries are, and then one for the rest; a stream's dead letters are looked for once and then known.
 */
import type { Entry, EntryId, StreamKey } from '../bus';
import { reasonOf } from '../connections/describeFailure';
import type { Inspector } from '../connections/inspector';
import type { LiveConnection } from '../connections/liveConnection';
import { entryIdOf } from './entryIds';
import { readEntries } from './entryPages';
import { readEntry } from './entryReads';
import { lagFigure } from './lagFigure';
import type { EntriesFacts, EntryFacts, StreamFacts, StreamReader } from './streamReader';

/** Reads one stream of one connection. */
export class InspectReader implements StreamReader {
  /** Keys that hold dead letters of the stream; undefined until they were looked for. */
  private deadKeys: readonly StreamKey[] | undefined;
  /** Keys that this user may not read: asking again would only fill the server's ACL LOG. */
  private readonly deniedKeys = new Set<StreamKey>();

  constructor(
    private readonly connection: LiveConnection,
    private readonly key: StreamKey,
  ) {}

  overview(signal: AbortSignal): Promise<StreamFacts> {
    const { key } = this;
    return this.connection.read(
      async (inspect) => {
        const [info, groups, serverTimeMs, dead] = await Promise.all([
          inspect.streamInfo(key),
          inspect.groupInfos(key),
          inspect.serverTimeMs(key),
          this.findDeadLetters(inspect),
        ]);
        return {
          length: info.length,
          firstId: info.firstEntry?.id ?? null,
          lastId: info.lastEntry?.id ?? null,
          groups: groups.map((group) => ({
            name: group.name,
            consumers: group.consumers,
            pending: group.pending,
            lag: lagFigure(group, info),
            lastDeliveredId: group.lastDeliveredId,
          })),
          deadLetters: dead[0] ?? null,
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
        if (!this.deadKeys) await this.findDeadLetters(inspect);
        return readEntry(inspect, { key: this.key, id, deadKeys: this.deadKeys ?? [] }, signal);
      },
      { signal },
    );
  }

  async fields(text: string, signal: AbortSignal): Promise<Entry | null> {
    const id = entryIdOf(text);
    if (id === null) return null;
    return this.connection.read((inspect) => oneEntry(inspect, this.key, id), { signal });
  }

  private async findDeadLetters(inspect: Inspector): Promise<readonly { key: StreamKey; length: number }[]> {
    const candidates = inspect.companionCandidates(this.key, 'dlq').filter((key) => !this.deniedKeys.has(key));
    const lengths = await Promise.all(candidates.map((key) => this.lengthUnlessGone(inspect, key)));
    const found = candidates.flatMap((key, index) => {
      const length = lengths[index] ?? 0;
      return length > 0 ? [{ key, length }] : [];
    });
    this.deadKeys = found.map(({ key }) => key);
    return found;
  }

  private async lengthUnlessGone(inspect: Inspector, key: StreamKey): Promise<number> {
    try {
      return await inspect.length(key);
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === 'no-permission') this.deniedKeys.add(key);
      else if (reason !== 'wrong-type') throw error;
      return 0;
    }
  }
}

async function oneEntry(inspect: Inspector, key: StreamKey, id: EntryId): Promise<Entry | null> {
  const [entry] = await inspect.range(key, { from: id, to: id, count: 1 });
  return entry ?? null;
}
