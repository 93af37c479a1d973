/** Every command that package.json declares. `test/unit/manifest.test.ts` holds the two equal; `test/host` that all are registered. */
export const commandIds = ['redisStreams.openLog'] as const;

/** The id of a command of this extension. */
export type CommandId = (typeof commandIds)[number];
