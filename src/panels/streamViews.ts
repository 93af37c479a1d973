/** Turns what was read of a stream into what its panel shows. Plain functions: no editor, no connection. */
import { bytesToText, displayText } from '../base/byteText';
import type { Localizer } from '../base/localize';
import type { Entry, StreamKey } from '../bus';
import type { Standing } from '../bus/inspect/standing';
import type {
  ConnectionView,
  DeadLetterView,
  EntriesPage,
  EntryDetail,
  EntryRow,
  StreamOverview,
} from '../protocol/streamPanel';
import { idTimeMs } from './entryIds';
import { historyLimits, historyView } from './history';
import { entryCommands, entryReply } from './redisCli';
import { standingViews } from './standings';
import type { DeadLetterFacts, EntriesFacts, EntryFacts, StreamFacts } from './streamReader';
import { cutUtf8, fieldViews, fitting, nameView, previewText, sizeOf } from './values';

/** How many fields and characters a row previews. */
const rowLimits = { fields: 8, chars: 400, nameChars: 60 } as const;

/** How much of the raw reply is shown, in characters. */
const maxRawChars = 64 * 1024;

/**
 * Bounds of what is told of groups, so that a message stays below a megabyte however many there are. A standing is shown with its
 * names twice and a sentence, and once more in the history.
 */
const maxGroupsChars = 512 * 1024;
const maxStandingsChars = 80 * 1024;
const maxCommandsChars = 64 * 1024;

/** The panel's header. */
export function overviewView(key: StreamKey, connection: ConnectionView, facts: StreamFacts): StreamOverview {
  const { length, firstId, lastId, groups, deadLetters, memoryBytes, timeToLiveMs, serverTimeMs } = facts;
  return {
    connection,
    stream: nameView(key),
    length,
    firstId,
    lastId,
    groups: fitting(
      groups.map((group) => ({ ...group, name: nameView(group.name) })),
      maxGroupsChars,
    ),
    groupCount: groups.length,
    deadLetters: deadLetters && { stream: nameView(deadLetters.key), length: deadLetters.length },
    memoryBytes,
    timeToLiveMs,
    serverTimeMs,
  };
}

/** A page of the table. */
export function pageView(facts: EntriesFacts): EntriesPage {
  return { entries: facts.entries.map(rowView), hasOlder: facts.hasOlder, hasNewer: facts.hasNewer };
}

/** One row of the table. */
export function rowView({ id, fields }: Entry): EntryRow {
  const preview: { name: string; value: string }[] = [];
  let left: number = rowLimits.chars;
  for (let index = 0; index + 1 < fields.length && preview.length < rowLimits.fields && left > 0; index += 2) {
    const name = previewText(fields[index] ?? empty, rowLimits.nameChars);
    const value = previewText(fields[index + 1] ?? empty, Math.min(200, Math.max(20, left)));
    left -= name.length + value.length;
    preview.push({ name, value });
  }
  return { id, timeMs: idTimeMs(id), fieldCount: fields.length / 2, bytes: sizeOf(fields), preview };
}

/** All about one entry. */
export function detailView(key: StreamKey, facts: EntryFacts, l10n: Localizer): EntryDetail {
  const { id, entry, deadLetter, serverTimeMs } = facts;
  const standings = shownStandings(facts.standings);
  const groups = standings.map(({ group }) => group);
  const history = historyView(facts, deadLetter?.stream ?? key, l10n);
  return {
    id,
    timeMs: idTimeMs(id),
    fields: entry && fieldViews(entry.fields),
    fieldCount: entry ? entry.fields.length / 2 : 0,
    bytes: entry ? sizeOf(entry.fields) : 0,
    raw: entryReply(id, entry?.fields ?? null, maxRawChars),
    standings: standingViews(standings, entry !== null, l10n),
    groupCount: facts.standings.length,
    history,
    historyLimits: historyLimits(facts, history.length),
    deadLetter: deadLetter && deadLetterView(deadLetter, facts, l10n),
    commands: fitting(entryCommands(key, id, groups), maxCommandsChars),
    serverTimeMs,
  };
}

/**
 * A whole payload for the clipboard: JSON pairs of name and value, so that order and repeated names survive; a byte that is no text
 * is the escape of the lone surrogate that stands for it. The tree copies the same.
 */
export function payloadText({ fields }: Entry): string {
  const texts = fields.map((bytes) => bytesToText(bytes));
  const pairs: (readonly string[])[] = [];
  for (let index = 0; index + 1 < texts.length; index += 2) pairs.push(texts.slice(index, index + 2));
  return JSON.stringify(pairs, undefined, 2);
}

const empty = Buffer.alloc(0);

/** A stream may have thousands of groups: where the entry is pending counts most. */
function shownStandings(standings: readonly Standing[]): readonly Standing[] {
  const shown = fitting(standings, maxStandingsChars);
  if (shown.length === standings.length) return standings;
  const isPending = ({ state }: Standing): boolean => state === 'pending' || state === 'gone';
  const byWeight = [...standings.filter(isPending), ...standings.filter((standing) => !isPending(standing))];
  return fitting(byWeight, maxStandingsChars);
}

function deadLetterView(letter: DeadLetterFacts, { id }: EntryFacts, l10n: Localizer): DeadLetterView {
  const { diedId, stream, group, consumer, errorType, errorMessage, deliveries, atMs, replays } = letter;
  return {
    originalId: letter.originalId ?? id,
    ...(diedId === undefined ? {} : { diedId }),
    ...(stream === undefined ? {} : { stream: nameView(stream) }),
    ...(group === undefined ? {} : { group: nameView(group) }),
    ...(consumer === undefined ? {} : { consumer: nameView(consumer) }),
    reason: letter.reason === undefined ? l10n.t('reason unknown') : displayText(letter.reason),
    ...(errorType === undefined ? {} : { errorType }),
    ...(errorMessage === undefined ? {} : { errorMessage: bytesToText(cutUtf8(Buffer.from(errorMessage), 4096)) }),
    ...(deliveries === undefined ? {} : { deliveries }),
    ...(atMs === undefined ? {} : { atMs }),
    ...(replays === undefined ? {} : { replays }),
    format: letter.format,
  };
}
