import type { EntryId, StreamKey } from '../bus';
import type { ConnectionId } from '../connections/profiles';

/** What a link to an entry says. */
export interface EntryLinkTarget {
  readonly connection: ConnectionId;
  readonly stream: StreamKey;
  readonly entry: EntryId | undefined;
}

/** A link that opens the panel of a stream when an entry id is appended; undefined for a key whose bytes no link can hold. */
export function entryLink(parts: {
  readonly scheme: string;
  readonly extension: string;
  readonly connection: ConnectionId;
  readonly stream: StreamKey;
}): string | undefined {
  try {
    const connection = encodeURIComponent(parts.connection);
    const stream = encodeURIComponent(parts.stream);
    return `${parts.scheme}://${parts.extension}/entry?connection=${connection}&stream=${stream}&entry=`;
  } catch {
    // A lone surrogate: a byte of the key that is no text.
    return undefined;
  }
}

/** Reads the query of such a link; anybody can make one, so nothing but these three is taken from it. */
export function readEntryLink(
  query: string,
  parseEntryId: (text: string) => EntryId | undefined,
): EntryLinkTarget | undefined {
  const values = new URLSearchParams(query);
  const connection = values.get('connection');
  const stream = values.get('stream');
  if (connection === null || stream === null || stream === '') return undefined;
  const entry = parseEntryId(values.get('entry') ?? '');
  return { connection: connection as ConnectionId, stream: stream as StreamKey, entry };
}
