import type { KeyspacePort, StreamPort } from '../bus';

/** What the inspecting functions of the bus read from. Never handed out by this room. */
export type InspectPort = StreamPort & KeyspacePort;

/** The functions of `bus/inspect` by name, each with the port as its first parameter. */
type InspectFunctions = Readonly<Record<never, never>>;

/** The same functions with the port given: `inspect.entriesPage(key, query)` for the bus's `entriesPage(port, key, query)`. */
export type Inspector = {
  readonly [Name in keyof InspectFunctions]: InspectFunctions[Name] extends (
    port: InspectPort,
    ...rest: infer Rest
  ) => infer Result
    ? (...rest: Rest) => Result
    : never;
};
