/** Reads all about one entry: itself, where it stands in the groups, what it says of itself, and its history. */
import { shortened } from '../base/shortText';
import type { DeadLetter, EntryId, StreamKey } from '../bus';
import type { Inspector } from '../connections/inspector';
import type { Observations } from './observations';
import type { DeadLetterFacts, EntryFacts } from './streamReader';

/** Reads an entry: about four round trips, more where its journal is long. */
export async function readEntry(
  inspect: Inspector,
  place: {
    readonly key: StreamKey;
    readonly id: EntryId;
    readonly deadKeys: readonly StreamKey[];
    readonly observations: Observations;
  },
  signal: AbortSignal,
): Promise<EntryFacts> {
  const { key, id, deadKeys, observations } = place;
  const history = await inspect.messageHistory(key, id, {
    deadKeys,
    signal,
    observe: (standing, timeMs) => observations.look(id, standing, timeMs),
  });
  const { entry, standings, deadLetter, events, journal, unknownEndings, serverTimeMs } = history;
  return {
    id,
    entry,
    standings,
    deadLetter: deadLetter === undefined ? null : deadLetterFacts(deadLetter),
    history: events,
    journal,
    unknownEndings,
    serverTimeMs,
  };
}

function deadLetterFacts({ form, failure }: DeadLetter): DeadLetterFacts {
  const { id, entry, reason, errorType, errorMessage, ...rest } = failure;
  return {
    ...rest,
    reason: bounded(reason, 300),
    errorType: bounded(errorType, 300),
    errorMessage: bounded(errorMessage, 4096),
    originalId: id,
    diedId: entry,
    format: form === 'block' ? 'own' : 'foreign',
  };
}

/** What others wrote as dead letters may hold megabytes, and one of them must not keep the entry that it is about from being shown. */
function bounded(text: string | undefined, maxChars: number): string | undefined {
  return text === undefined ? undefined : shortened(text, maxChars);
}
