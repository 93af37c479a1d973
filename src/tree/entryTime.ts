/** The time that an entry id tells; the same bounds as the bus's `entryIdTimeMs`, of which this room may know only types. */
export function entryTimeMs(id: string): number | undefined {
  const ms = Number(id.slice(0, id.indexOf('-')));
  return ms >= firstPlausibleMs && ms < lastPlausibleMs ? ms : undefined;
}

const firstPlausibleMs = Date.UTC(2010, 0, 1);
const lastPlausibleMs = Date.UTC(2100, 0, 1);
