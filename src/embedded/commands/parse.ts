/** Reading of arguments with Redis's rules and errors. */
import type { Args } from '../args';
import type { Int } from '../data/int64';
import type { ParsedId, StreamId } from '../data/streamId';
import { maxHalf, nextId, parseStreamId, previousId } from '../data/streamId';
import { notAnInteger, replyError } from '../reply';

const invalidId = 'Invalid stream ID specified as stream command argument';

/** A signed 64-bit integer, else an error with this text. */
export function requireInt(args: Args, index: number, otherwise?: string): Int {
  const value = args.int(index);
  if (value === undefined) throw otherwise === undefined ? notAnInteger() : replyError(otherwise);
  return value;
}

/** COUNT as a number, 0 for less than 0. */
export function requireCount(args: Args, index: number): number {
  return Math.max(0, Number(requireInt(args, index)));
}

/** A complete id, or one whose sequence is 0 by default; `-` and `+` are no ids here. */
export function requireId(args: Args, index: number): StreamId {
  const id = parseStreamId(args.text(index), { missingSeq: 0 });
  if (!id) throw replyError(invalidId);
  return id;
}

/** An id that may be `-` or `+`. */
export function requireIdOrEdge(args: Args, index: number): StreamId {
  const id = parseStreamId(args.text(index), { missingSeq: 0, edges: true });
  if (!id) throw replyError(invalidId);
  return id;
}

/** The id of an entry to add, which may leave its sequence to the server. */
export function requireNewId(args: Args, index: number): ParsedId {
  const id = parseStreamId(args.text(index), { missingSeq: 0, autoSeq: true });
  if (!id) throw replyError(invalidId);
  return id;
}

/** An id when the argument is one. */
export function optionalId(args: Args, index: number): StreamId | undefined {
  return parseStreamId(args.text(index), { missingSeq: 0 });
}

/** The start of an interval: an id, `-`, `+`, or `(` and an id that is left out. */
export function requireIntervalStart(args: Args, index: number): StreamId {
  const { id, isExclusive } = interval(args, index, 0);
  const start = isExclusive ? nextId(id) : id;
  if (!start) throw replyError('invalid start ID for the interval');
  return start;
}

/** The end of an interval. */
export function requireIntervalEnd(args: Args, index: number): StreamId {
  const { id, isExclusive } = interval(args, index, maxHalf);
  const end = isExclusive ? previousId(id) : id;
  if (!end) throw replyError('invalid end ID for the interval');
  return end;
}

function interval(
  args: Args,
  index: number,
  missingSeq: Int,
): { readonly id: StreamId; readonly isExclusive: boolean } {
  const text = args.text(index);
  const isExclusive = text.length > 1 && text.startsWith('(');
  const id = parseStreamId(isExclusive ? text.slice(1) : text, { missingSeq, edges: !isExclusive });
  if (!id) throw replyError(invalidId);
  return { id, isExclusive };
}
