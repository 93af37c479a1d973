import type { KeyspacePort, RedisPort, StreamPort } from '../bus';

/** What the inspecting functions of the bus read from, and what the gate writes with. Never handed out by this room. */
export type InspectPort = StreamPort & KeyspacePort & Partial<Pick<RedisPort, 'openTransaction'>>;

/** Makes a disposable client for a URL with its secrets; it never reconnects by itself. `onClosed` tells that its link broke. */
export type OpenPort = (url: string, options: { readonly onClosed: () => void }) => Promise<InspectPort>;
