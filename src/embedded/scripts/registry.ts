import type { ScriptTwins } from './twin';

/** The twins of the bus's scripts. */
export const busTwins: ScriptTwins = new Map();
