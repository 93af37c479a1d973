/** Every view container and view that package.json declares. */
export const viewContainerIds = ['redisStreams'] as const;
export const viewIds = ['redisStreams.explorer'] as const;

/** The id of a view of this extension. */
export type ViewId = (typeof viewIds)[number];
