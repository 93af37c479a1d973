import { checkOptions, callable, integer, text } from '../options';
import type { Redact } from './failureText';

/** The options of a delivery journal; all have defaults. */
export interface JournalOptions {
  /** About how many records are kept (XADD MAXLEN ~). Default 10,000: 1.5 MB of messages that come one by one, 7 MB of many at once. */
  readonly maxLength?: number;
  /** Removes secrets from the messages and stacks of errors. Default: the consumer's `redact`. */
  readonly redact?: Redact;
  /** The version of the program that writes, such as a release. Default: none. */
  readonly version?: string;
}

/** The options with every default filled in. */
export interface ResolvedJournalOptions {
  readonly maxLength: number;
  readonly redact: Redact;
  readonly version: string;
}

/** Checks the option `journal` of a consumer; undefined when there is to be none. */
export function resolveJournalOptions(
  given: boolean | JournalOptions | undefined,
  redact: Redact,
): ResolvedJournalOptions | undefined {
  if (given === undefined || given === false) return undefined;
  const options = given === true ? {} : given;
  checkOptions('consumer.journal', options, { maxLength: integer(1), redact: callable, version: text });
  return {
    maxLength: options.maxLength ?? 10_000,
    redact: options.redact ?? redact,
    version: options.version ?? '',
  };
}
