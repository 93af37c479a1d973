import { companionCandidates, companionKey } from '../companionKeys';
import { readDeadLetter } from '../deadLetters';
import type { DeadLetter } from '../deadLetters';
import type { EntryId, StreamKey } from '../ids';
import { outcomeOf } from './inspectPort';
import type { InspectPort } from './inspectPort';

/** A stream that holds the dead letters of another one. */
export interface DeadLetterStream {
  readonly key: StreamKey;
  /** True for the key that the bus itself writes to. */
  readonly isOurs: boolean;
  readonly length: number;
  readonly newest: DeadLetter | null;
}

/** Some dead letters, newest first. */
export interface DeadLettersPage {
  readonly deadLetters: readonly DeadLetter[];
  /** Give it as `before` to go on; undefined when there are no more. */
  readonly next: EntryId | undefined;
  readonly serverTimeMs: number;
}

/**
 * The streams that hold dead letters of a stream, likeliest first: under every name that is recognised, and under those of the
 * user's own mapping. Two round trips. Keys that may not be read are left out and, as long as `denied` or else the port
 * lives, not asked for again, since every denied command stands in ACL LOG.
 */
export async function deadLettersOf(
  port: InspectPort,
  key: StreamKey,
  options: { readonly mapped?: readonly StreamKey[]; readonly denied?: Set<StreamKey> } = {},
): Promise<readonly DeadLetterStream[]> {
  const denied = options.denied ?? deniedKeys(port);
  const candidates = [...new Set([...(options.mapped ?? []), ...companionCandidates(key, 'dlq')])].filter(
    (candidate) => !denied.has(candidate),
  );
  const [{ isCluster }, ...types] = await Promise.all([
    port.capabilities(),
    ...candidates.map((candidate) => outcomeOf(port.typeOf(candidate))),
  ]);
  types.forEach((type, index) => {
    const candidate = candidates[index];
    if (type.state === 'not-permitted' && candidate !== undefined) denied.add(candidate);
  });
  const streams = candidates.filter((_, index) => {
    const type = types[index];
    return type?.state === 'read' && type.value === 'stream';
  });
  const ours = companionKey(key, 'dlq', { isCluster }).key;
  const described = await Promise.all(streams.map((stream) => describe(port, stream, ours)));
  return described.filter((stream) => stream !== undefined);
}

/** A page of a dead-letter stream, newest first, each entry read in whichever form it was written. One round trip. */
export async function deadLettersPage(
  port: InspectPort,
  deadKey: StreamKey,
  { before, count }: { readonly before?: EntryId; readonly count: number },
): Promise<DeadLettersPage> {
  const [entries, serverTimeMs] = await Promise.all([
    port.range(deadKey, {
      from: 'min',
      to: before === undefined ? 'max' : { before },
      count: count + 1,
      reverse: true,
    }),
    port.serverTimeMs(deadKey),
  ]);
  const shown = entries.slice(0, count);
  return {
    deadLetters: shown.map(readDeadLetter),
    next: entries.length > count ? shown.at(-1)?.id : undefined,
    serverTimeMs,
  };
}

async function describe(port: InspectPort, key: StreamKey, ours: StreamKey): Promise<DeadLetterStream | undefined> {
  const outcome = await outcomeOf(
    Promise.all([port.length(key), port.range(key, { from: 'min', to: 'max', count: 1, reverse: true })]),
  );
  if (outcome.state !== 'read') return undefined;
  const [length, [newest]] = outcome.value;
  return { key, isOurs: key === ours, length, newest: newest === undefined ? null : readDeadLetter(newest) };
}

const deniedByPort = new WeakMap<InspectPort, Set<StreamKey>>();

function deniedKeys(port: InspectPort): Set<StreamKey> {
  const known = deniedByPort.get(port);
  if (known !== undefined) return known;
  const denied = new Set<StreamKey>();
  deniedByPort.set(port, denied);
  return denied;
}
