/**
 * Companion keys: the streams that the bus keeps beside a stream `S`, its dead letters (`:dlq`) and its journal (`:journal`).
 *
 * A companion must share the slot of its stream on a cluster, because they change together in one script. Standalone servers get
 * `S:dlq`. On a cluster it is `S:dlq` when `S` has a hash tag, else `{S}:dlq`; for the few names where neither lands in the slot of
 * `S` (`a}b`, `a{}b`, `{}x`) the companion is `S:dlq` and `sameSlot` is false. The stream itself is never renamed.
 */
import { streamKey } from './ids';
import type { StreamKey } from './ids';
import { hasHashTag, slotOf } from './redis/slots';

/** What a companion key holds. */
export type CompanionKind = 'dlq' | 'journal';

/** Where the bus writes a companion of a stream, and whether one script may change both. */
export interface CompanionKey {
  readonly key: StreamKey;
  /** Always true on a standalone server. */
  readonly sameSlot: boolean;
}

/** The suffixes by which a stream is recognised as somebody's dead letters; the first is the one that the bus writes. */
export const deadLetterSuffixes: readonly string[] = [':dlq', ':dead', '.dlq', '-dlq', ':deadletter'];

/** The suffix of a delivery journal. */
export const journalSuffix = ':journal';

/** The companion key to write to. */
export function companionKey(
  stream: StreamKey,
  kind: CompanionKind,
  options: { readonly isCluster: boolean },
): CompanionKey {
  const plain = streamKey(`${stream}:${kind}`);
  if (!options.isCluster) return { key: plain, sameSlot: true };
  const slot = slotOf(stream);
  const wrapped = streamKey(`{${stream}}:${kind}`);
  const preferred = hasHashTag(stream) ? plain : wrapped;
  if (slotOf(preferred) === slot) return { key: preferred, sameSlot: true };
  return { key: plain, sameSlot: slotOf(plain) === slot };
}

/**
 * Every key under which the dead letters or the journal of a stream may be found, likeliest first: both forms that the bus
 * writes, then the suffixes that others use. The user's own mapping is not among them.
 */
export function companionCandidates(stream: StreamKey, kind: CompanionKind): readonly StreamKey[] {
  const suffixes = kind === 'dlq' ? deadLetterSuffixes : [journalSuffix];
  return [stream, `{${stream}}`].flatMap((base) => suffixes.map((suffix) => streamKey(base + suffix)));
}

/**
 * Reads a key as a companion: of what kind, and of which streams it may be. `{orders}:dlq` belongs to `{orders}` or to `orders`;
 * which of them only the keyspace can tell. Undefined when the key has no recognised suffix.
 */
export function readCompanionKey(
  key: StreamKey,
): { readonly kind: CompanionKind; readonly streams: readonly StreamKey[] } | undefined {
  const suffix = [...deadLetterSuffixes, journalSuffix].find((candidate) => key.endsWith(candidate));
  if (suffix === undefined || key.length === suffix.length) return undefined;
  const base = key.slice(0, -suffix.length);
  const isWrapped = base.length > 2 && base.startsWith('{') && base.endsWith('}');
  return {
    kind: suffix === journalSuffix ? 'journal' : 'dlq',
    streams: [base, ...(isWrapped ? [base.slice(1, -1)] : [])].map(streamKey),
  };
}
