/** A whole number with its thousands grouped as the locale does it; a locale that is not known falls back to English. */
export function formatCount(value: number, locale: string): string {
  return formatterOf(locale).format(value);
}

/** Milliseconds since the epoch as local date and time with the zone, for tooltips. */
export function formatTime(timeMs: number, locale: string): string {
  const options: Intl.DateTimeFormatOptions = {
    dateStyle: 'medium',
    timeStyle: 'long',
  };
  try {
    return new Intl.DateTimeFormat(locale, options).format(timeMs);
  } catch {
    return new Date(timeMs).toISOString();
  }
}

const formatters = new Map<string, Intl.NumberFormat>();

function formatterOf(locale: string): Intl.NumberFormat {
  const known = formatters.get(locale);
  if (known) return known;
  const formatter = makeFormatter(locale);
  formatters.set(locale, formatter);
  return formatter;
}

function makeFormatter(locale: string): Intl.NumberFormat {
  try {
    return new Intl.NumberFormat(locale, { maximumFractionDigits: 0 });
  } catch {
    return new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
  }
}
