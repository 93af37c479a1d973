import type { GroupName, StreamKey } from '../ids';
import type { JournalEventName } from '../history/journalEvent';
import { luaIso, luaNumbers } from './lua';
import { numberOf } from './reply';
import { defineScript } from './script';

/**
 * One event to record, of one entry or of several that share its time: then ids, attempts and durations are lists, separated by
 * commas, one value for each id; or one value for all of them. Empty means not known.
 */
export interface JournalRecord {
  readonly event: JournalEventName;
  readonly ids: string;
  readonly attempts: string;
  readonly durations: string;
  /**
   * When it happened: by the caller's clock, then the server's clock minus how long ago that was is recorded; or a time of the server
   * itself, such as that of an entry id, which is recorded as it is.
   */
  readonly time: { readonly hereMs: number } | { readonly serverMs: number };
  /** Bounded and redacted. */
  readonly error: JournalError | undefined;
}

/** What is recorded of an error. */
export interface JournalError {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
}

/** Who writes: the same in every event of a call. */
export interface JournalWriter {
  readonly group: GroupName;
  /** Empty when no consumer did it. */
  readonly consumer: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
}

/** The most records of one call: less than a millisecond of the server. */
export const maxJournalRecords = 200;

/**
 * Appends events to a journal: an XADD for each record, all of a call in one round trip. The records come packed in one argument, a
 * line each, and only the texts of errors by themselves: many arguments would cost the caller more than the rest of the call.
 */
export const recordJournal = defineScript<
  {
    readonly journal: StreamKey;
    readonly maxLength: number;
    readonly writer: JournalWriter;
    /** The caller's clock now. */
    readonly hereMs: number;
    readonly records: readonly JournalRecord[];
  },
  number
>({
  name: 'recordJournal',
  readOnly: false,
  text: `
-- KEYS journal. ARGV max length, group, consumer, host, pid, version, lines of 'event ids attempts durations time error', then 3 for each error.
${luaNumbers}${luaIso}
local started = now()
local lastTime, at
local count = 0
for event, ids, attempts, durations, time, failed in string.gmatch(ARGV[7], '(%S+) (%S+) (%S+) (%S+) (%S+) (%S+)') do
  if time ~= lastTime then
    lastTime = time
    local number = tonumber(string.sub(time, 2))
    at = iso(string.sub(time, 1, 1) == '-' and started - number or number)
  end
  if attempts == '-' then attempts = '' end
  if durations == '-' then durations = '' end
  if failed == '-' then
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'event', event, 'id', ids, 'group', ARGV[2], 'consumer', ARGV[3],
      'attempt', attempts, 'at', at, 'durationMs', durations, 'host', ARGV[4], 'pid', ARGV[5], 'version', ARGV[6])
  else
    local error = 8 + 3 * tonumber(failed)
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'event', event, 'id', ids, 'group', ARGV[2], 'consumer', ARGV[3],
      'attempt', attempts, 'at', at, 'durationMs', durations, 'error.type', ARGV[error], 'error.message', ARGV[error + 1],
      'error.stack', ARGV[error + 2], 'host', ARGV[4], 'pid', ARGV[5], 'version', ARGV[6])
  end
  count = count + 1
end
return count
`,
  keys: ({ journal }) => [journal],
  argv: ({ maxLength, writer, hereMs, records }) => {
    const errors: string[] = [];
    let lines = '';
    for (const { event, ids, attempts, durations, time, error } of records) {
      const at = 'hereMs' in time ? `-${Math.max(0, Math.round(hereMs - time.hereMs))}` : `=${time.serverMs}`;
      const failed = error ? errors.length / 3 : '-';
      lines += `${event} ${ids} ${attempts || '-'} ${durations || '-'} ${at} ${failed}\n`;
      if (error) errors.push(error.type, error.message, error.stack);
    }
    const { group, consumer, host, pid, version } = writer;
    return [maxLength, group, consumer, host, pid, version, lines, ...errors];
  },
  reply: numberOf,
});
