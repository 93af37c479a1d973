/** Every context key that this extension sets and package.json's `when` clauses may use. */
export const contextKeys = ['redisStreams.hasConnections'] as const;

/** The name of a context key of this extension. */
export type ContextKey = (typeof contextKeys)[number];
