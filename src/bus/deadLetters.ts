/**
 * The wire format of dead letters.
 *
 * A dead-letter entry is the original fields, byte for byte and in order, followed by one trailing block: exactly the last eleven
 * pairs, named and ordered as `deadLetterFieldNames`. A replay strips the block and appends exactly two pairs, `dl.id` and
 * `dl.replays`; when that message dies again, the two are replaced by the next block. A user's own field with such a name stays
 * the user's: only a complete and well-formed block (or pair of pairs) at the end is ours. Two forms of others are read too.
 */
import { bytesToText, textToBytes } from '../base/byteText';
import type { Entry, EntryFields } from './entries';
import { consumerName, groupName, parseEntryId, streamKey } from './ids';
import type { ConsumerName, EntryId, GroupName, StreamKey } from './ids';

/** Why the bus gave a message up. Readers meet other words when somebody else wrote the entry. */
export type DeadLetterReason =
  'handler-error' | 'timeout' | 'delivery-limit' | 'invalid' | 'unroutable' | 'rejected' | 'manual';

/** The trailing block of a dead letter, read or to be written. */
export interface DeadLetterBlock {
  /** The id that the message had when it was first published; carried across replays, so it names the message for ever. */
  readonly id: EntryId;
  /** The id of the entry that died. */
  readonly entry: EntryId;
  readonly stream: StreamKey;
  readonly group: GroupName;
  readonly consumer: ConsumerName;
  readonly reason: string;
  readonly errorType: string;
  /** At most 1 KiB of UTF-8 is written. The caller has removed secrets. */
  readonly errorMessage: string;
  readonly deliveries: number;
  /** When it was dead-lettered, milliseconds since the epoch by the server's clock; written as ISO 8601. */
  readonly atMs: number;
  /** How often the message had been replayed before it died. */
  readonly replays: number;
}

/** What a message carries from its earlier lives: the two pairs that a replay appends. */
export interface ReplayOrigin {
  readonly id: EntryId;
  readonly replays: number;
}

/** An entry of a dead-letter stream, read in whichever form it was written. */
export interface DeadLetter {
  /** Its own id in the dead-letter stream. */
  readonly deadId: EntryId;
  /** `block`: ours. `camelCase`: originalId, deliveries, reason. `snakeCase`: original_id, error, payload, failed_at. */
  readonly form: 'block' | 'camelCase' | 'snakeCase' | 'unknown';
  /** The message's own fields. When `fieldsAre` is `reconstructed` they were read from JSON; order and bytes may differ. */
  readonly fields: EntryFields;
  readonly fieldsAre: 'original' | 'reconstructed';
  /** What the entry tells of the failure; of the foreign forms only what they hold. */
  readonly failure: Partial<DeadLetterBlock>;
}

/** The names of the block's pairs, in the order in which they are written. */
export const deadLetterFieldNames = [
  'dl.id',
  'dl.entry',
  'dl.stream',
  'dl.group',
  'dl.consumer',
  'dl.reason',
  'dl.error.type',
  'dl.error.message',
  'dl.deliveries',
  'dl.at',
  'dl.replays',
] as const;

/** The names of the two pairs that a replay appends, in order. */
export const replayFieldNames = ['dl.id', 'dl.replays'] as const;

/** How many bytes of an error message are kept. */
export const maxErrorMessageBytes = 1024;

/** The block as the pairs to append to the original fields. */
export function encodeDeadLetterBlock(block: DeadLetterBlock): EntryFields {
  const values = [
    block.id,
    block.entry,
    block.stream,
    block.group,
    block.consumer,
    block.reason,
    block.errorType,
    '',
    decimal(block.deliveries),
    new Date(block.atMs).toISOString(),
    decimal(block.replays),
  ].map(textToBytes);
  values[7] = boundedUtf8(block.errorMessage, maxErrorMessageBytes);
  return deadLetterFieldNames.flatMap((name, index) => [Buffer.from(name), values[index] ?? Buffer.alloc(0)]);
}

/** A whole dead-letter entry: the fields of the entry that died without its replay pairs, then the block. */
export function deadLetterFields(died: Entry, failure: Omit<DeadLetterBlock, 'id' | 'entry' | 'replays'>): EntryFields {
  const { fields, origin } = splitReplayOrigin(died.fields);
  const block = { ...failure, id: origin?.id ?? died.id, entry: died.id, replays: origin?.replays ?? 0 };
  return [...fields, ...encodeDeadLetterBlock(block)];
}

/** Separates a message's own fields from the two pairs that a replay appended, when they are there. */
export function splitReplayOrigin(fields: EntryFields): { fields: EntryFields; origin: ReplayOrigin | undefined } {
  const values = trailingValues(fields, replayFieldNames);
  const id = parseEntryId(text(values?.[0]));
  const replays = count(values?.[1]);
  if (!values || id === undefined || replays === undefined || replays < 1) return { fields, origin: undefined };
  return { fields: fields.slice(0, -2 * replayFieldNames.length), origin: { id, replays } };
}

/** Reads an entry of a dead-letter stream. */
export function readDeadLetter(entry: Entry): DeadLetter {
  return (
    readBlock(entry) ??
    readCamelCase(entry) ??
    readSnakeCase(entry) ?? {
      deadId: entry.id,
      form: 'unknown',
      fields: entry.fields,
      fieldsAre: 'original',
      failure: {},
    }
  );
}

/**
 * The fields to publish when a dead letter is replayed: the message's own, then `dl.id` and `dl.replays`, one more than before.
 * The id is the first original one; where an entry does not tell it, the dead letter's own id stands in.
 */
export function replayFields(deadLetter: DeadLetter): EntryFields {
  const { fields, origin } = splitReplayOrigin(deadLetter.fields);
  const id = deadLetter.failure.id ?? origin?.id ?? deadLetter.deadId;
  const replays = (deadLetter.failure.replays ?? origin?.replays ?? 0) + 1;
  return [...(deadLetter.form === 'block' ? deadLetter.fields : fields), ...encodeReplayOrigin({ id, replays })];
}

/** The two pairs that a replay appends. */
export function encodeReplayOrigin(origin: ReplayOrigin): EntryFields {
  return [
    Buffer.from(replayFieldNames[0]),
    Buffer.from(origin.id),
    Buffer.from(replayFieldNames[1]),
    Buffer.from(decimal(origin.replays)),
  ];
}

function readBlock({ id: deadId, fields }: Entry): DeadLetter | undefined {
  const values = trailingValues(fields, deadLetterFieldNames);
  if (!values) return undefined;
  const id = parseEntryId(text(values[0]));
  const entry = parseEntryId(text(values[1]));
  const deliveries = Number(text(values[8]));
  const atMs = Date.parse(text(values[9]));
  const replays = count(values[10]);
  if (id === undefined || entry === undefined || replays === undefined) return undefined;
  if (text(values[8]) === '' || Number.isNaN(deliveries) || Number.isNaN(atMs)) return undefined;
  return {
    deadId,
    form: 'block',
    fields: fields.slice(0, -2 * deadLetterFieldNames.length),
    fieldsAre: 'original',
    failure: {
      id,
      entry,
      stream: streamKey(text(values[2])),
      group: groupName(text(values[3])),
      consumer: consumerName(text(values[4])),
      reason: text(values[5]),
      errorType: text(values[6]),
      errorMessage: text(values[7]),
      deliveries,
      atMs,
      replays,
    },
  };
}

function readCamelCase({ id: deadId, fields }: Entry): DeadLetter | undefined {
  const taken = takeFields(fields, ['originalId', 'deliveries', 'reason']);
  const id = parseEntryId(text(taken?.values[0]));
  if (!taken || id === undefined) return undefined;
  const deliveries = count(taken.values[1]);
  return {
    deadId,
    form: 'camelCase',
    fields: taken.rest,
    fieldsAre: 'original',
    failure: {
      id,
      entry: id,
      reason: text(taken.values[2]),
      ...(deliveries === undefined ? {} : { deliveries }),
    },
  };
}

function readSnakeCase({ id: deadId, fields }: Entry): DeadLetter | undefined {
  const taken = takeFields(fields, ['original_id', 'error', 'payload', 'failed_at']);
  const id = parseEntryId(text(taken?.values[0]));
  if (!taken || id === undefined) return undefined;
  const payload = taken.values[2] ?? Buffer.alloc(0);
  const atMs = timeOf(text(taken.values[3]));
  return {
    deadId,
    form: 'snakeCase',
    fields: [...(pairsOfJson(payload) ?? [Buffer.from('payload'), payload]), ...taken.rest],
    fieldsAre: 'reconstructed',
    failure: { id, entry: id, errorMessage: text(taken.values[1]), ...(atMs === undefined ? {} : { atMs }) },
  };
}

/** The values of the last pairs when these have exactly the given names, else undefined. */
function trailingValues(fields: EntryFields, names: readonly string[]): readonly Buffer[] | undefined {
  const start = fields.length - 2 * names.length;
  if (start < 0) return undefined;
  if (!names.every((name, index) => text(fields[start + 2 * index]) === name)) return undefined;
  return names.map((_, index) => fields[start + 2 * index + 1] ?? Buffer.alloc(0));
}

/** Takes the values of fields that each occur exactly once; undefined when one is missing or repeated. */
function takeFields(
  fields: EntryFields,
  names: readonly string[],
): { readonly values: readonly Buffer[]; readonly rest: EntryFields } | undefined {
  const values = new Map<string, Buffer>();
  const rest: Buffer[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = text(fields[index]);
    const pair = fields.slice(index, index + 2);
    if (!names.includes(name)) rest.push(...pair);
    else if (values.has(name)) return undefined;
    else values.set(name, pair[1] ?? Buffer.alloc(0));
  }
  if (values.size !== names.length) return undefined;
  return { values: names.map((name) => values.get(name) ?? Buffer.alloc(0)), rest };
}

/** The pairs of a JSON object all of whose values are strings; undefined for any other bytes. */
function pairsOfJson(bytes: Buffer): EntryFields | undefined {
  let value: unknown;
  try {
    value = JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const pairs: Buffer[] = [];
  for (const [name, content] of Object.entries(value)) {
    if (typeof content !== 'string') return undefined;
    pairs.push(Buffer.from(name), Buffer.from(content));
  }
  return pairs.length > 0 ? pairs : undefined;
}

/** A time as ISO 8601, or as a number of seconds or milliseconds since the epoch. */
function timeOf(value: string): number | undefined {
  const number = Number(value);
  const ms = value === '' || Number.isNaN(number) ? Date.parse(value) : number < 1e11 ? number * 1000 : number;
  return Number.isNaN(ms) ? undefined : ms;
}

function count(bytes: Buffer | undefined): number | undefined {
  const digits = text(bytes);
  return /^\d{1,15}$/.test(digits) ? Number(digits) : undefined;
}

function text(bytes: Buffer | undefined): string {
  return bytes === undefined ? '' : bytesToText(bytes);
}

/** A count in plain decimal digits; counts beyond 2^53 are doubles already and lose nothing more. */
function decimal(value: number): string {
  return Number.isFinite(value) ? BigInt(Math.trunc(value)).toString() : '0';
}

/** As much of the text as fits into the bytes, never half a character. */
function boundedUtf8(value: string, maxBytes: number): Buffer {
  const bytes = textToBytes(value);
  if (bytes.length <= maxBytes) return bytes;
  let end = maxBytes;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}
