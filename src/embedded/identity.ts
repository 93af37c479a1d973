/** The Redis version that the engine behaves like. */
export const redisVersion = '7.0.15';

/** The version of the engine itself, which INFO tells as `embedded_version`. */
export const embeddedVersion = '1.0.0';
