/** Every setting that package.json declares, by its full key, with the type of its value. */
export interface Settings {
  /** Entries as people wrote them: each may be anything. */
  readonly 'redisStreams.connections': readonly unknown[];
  readonly 'redisStreams.autoRefreshSeconds': number;
  readonly 'redisStreams.autoRefreshProductionSeconds': number;
  readonly 'redisStreams.pageSize': number;
  readonly 'redisStreams.keySeparator': string;
  readonly 'redisStreams.scan.match': string;
}

/** The key of a setting of this extension. */
export type SettingKey = keyof Settings;

type Check<Value> = (value: unknown) => value is Value;

/** How each value is checked, and what holds when it is not what package.json asks for; the defaults are the manifest's. */
const checks: {
  readonly [Key in SettingKey]: { readonly isValid: Check<Settings[Key]>; readonly fallback: Settings[Key] };
} = {
  'redisStreams.connections': { isValid: isList, fallback: [] },
  'redisStreams.autoRefreshSeconds': { isValid: isIntegerBetween(0, 3600), fallback: 5 },
  'redisStreams.autoRefreshProductionSeconds': { isValid: isIntegerBetween(0, 3600), fallback: 0 },
  'redisStreams.pageSize': { isValid: isIntegerBetween(10, 500), fallback: 100 },
  'redisStreams.keySeparator': { isValid: isText, fallback: ':' },
  'redisStreams.scan.match': { isValid: isText, fallback: '*' },
};

/** The keys of all settings, in the manifest's order. */
export const settingKeys = Object.keys(checks).filter(isSettingKey);

/** Tells whether a text is the key of a setting of this extension. */
export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(checks, key);
}

/** Reads a setting from whatever holds the raw values; a value of the wrong type or out of range gives the default. */
export function readSetting<Key extends SettingKey>(getRaw: (key: SettingKey) => unknown, key: Key): Settings[Key] {
  const value = getRaw(key);
  const { isValid, fallback } = checks[key];
  return isValid(value) ? value : fallback;
}

function isIntegerBetween(least: number, most: number): Check<number> {
  return (value): value is number =>
    typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
