/**
 * The embedded engine: Redis Streams without a Redis, for one process and for trying things.
 *
 * It behaves like Redis 7.0.15, command by command: test/embedded holds it against a real server. It is the bus's memory adapter
 * (`EmbeddedServer`, `createEmbeddedPort`, `createMemoryBus`) and a server for any client (`startRespServer`). It knows the bus's port
 * and scripts and nothing of VS Code; docs/sandbox.md lists what it can do.
 */
export { createEmbeddedPort, EmbeddedServer, type EmbeddedProcess } from './embeddedServer';
export { createMemoryBus, type MemoryBus, type MemoryBusOptions } from './memoryBus';
export type { Loss } from './port/network';
export { startRespServer, type RespServer, type RespServerOptions } from './resp/server';
export { VirtualClock } from './virtualClock';
