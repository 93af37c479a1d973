const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1000 },
] as const;

/**
 * A duration for people, compact to two units: `41 s`, `3 min`, `3 h 12 min`, `2 d 4 h`. Below a second it is `< 1 s`; below ten
 * minutes seconds are told, above they are not. Cut, never rounded up.
 */
export function formatDuration(durationMs: number): string {
  if (!(durationMs >= 1000)) return '< 1 s';
  const index = units.findIndex(({ ms }) => durationMs >= ms);
  const large = units[index];
  const small = units[index + 1];
  if (!large) return '< 1 s';
  const count = Math.floor(durationMs / large.ms);
  const rest = small ? Math.floor((durationMs % large.ms) / small.ms) : 0;
  const isTooFine = large.name === 'min' && count >= 10;
  return small && rest > 0 && !isTooFine ? `${count} ${large.name} ${rest} ${small.name}` : `${count} ${large.name}`;
}
