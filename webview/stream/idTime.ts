/** The time that an entry id tells. */

const firstPlausibleMs = Date.UTC(2010, 0, 1);
const lastPlausibleMs = Date.UTC(2100, 0, 1);

/** Milliseconds since the epoch, or null when the id's first half cannot be a time because the producer chose it. */
export function idTimeMs(id: string): number | null {
  const dash = id.indexOf('-');
  const ms = Number(dash < 0 ? id : id.slice(0, dash));
  return ms >= firstPlausibleMs && ms < lastPlausibleMs ? ms : null;
}
