/** Every command that package.json declares. `test/unit/manifest.test.ts` holds the two equal; `test/host` that all are registered. */
export const commandIds = [
  'redisStreams.addConnection',
  'redisStreams.editConnection',
  'redisStreams.removeConnection',
  'redisStreams.connect',
  'redisStreams.disconnect',
  'redisStreams.movePassword',
  'redisStreams.openSettings',
  'redisStreams.openStream',
  'redisStreams.openEntry',
  'redisStreams.copyName',
  'redisStreams.copyId',
  'redisStreams.copyPayload',
  'redisStreams.copyCommands',
  'redisStreams.findEntry',
  'redisStreams.filterStreams',
  'redisStreams.refresh',
  'redisStreams.retry',
  'redisStreams.loadMore',
  'redisStreams.setAutomaticRefresh',
  'redisStreams.showMinimalAcl',
  'redisStreams.openLog',
] as const;

/** The id of a command of this extension. */
export type CommandId = (typeof commandIds)[number];
