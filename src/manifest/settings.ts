/** Every setting that package.json declares, by its full key, with the type of its value. */
export type Settings = Readonly<Record<never, never>>;

/** The keys of all settings, in the manifest's order. */
export const settingKeys: readonly (keyof Settings)[] = [];
