/** A number that says where it comes from: as the server or a count told it, a lower bound, or unknown with the reason. */
export type Figure =
  | { readonly kind: 'exact'; readonly value: number; readonly source: string }
  | { readonly kind: 'atLeast'; readonly value: number; readonly source: string }
  | { readonly kind: 'unknown'; readonly because: UnknownBecause; readonly reason: string };

/** Why a figure is unknown, for those who word it themselves. */
export type UnknownBecause =
  | 'not-told-by-this-server'
  | 'entries-deleted'
  | 'group-set-to-other-id'
  | 'miscounted-after-trim'
  | 'released'
  | 'not-permitted';

/** A number as it was told. */
export function exact(value: number, source: string): Figure {
  return { kind: 'exact', value, source };
}

/** A number that is too low, if anything. */
export function atLeast(value: number, source: string): Figure {
  return { kind: 'atLeast', value, source };
}

/** No number; `reason` is a sentence for people. */
export function unknown(because: UnknownBecause, reason: string): Figure {
  return { kind: 'unknown', because, reason };
}
