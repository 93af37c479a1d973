import type { KeyspacePort, StreamPort } from '../bus';

/** What the inspecting functions of the bus read from. Never handed out by this room. */
export type InspectPort = StreamPort & KeyspacePort;

/** Makes a disposable client for a URL with its secrets; it never reconnects by itself. `onClosed` tells that its link broke. */
export type OpenPort = (url: string, options: { readonly onClosed: () => void }) => Promise<InspectPort>;
