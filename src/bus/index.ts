/**
 * The bus: the Redis Streams client behind every command of the extension and behind the worker.
 *
 * This is its whole public surface; it is also built as a library of its own (`dist/bus.js`, `dist/bus.d.ts`). It knows nothing
 * of VS Code. Its tests are in `test/bus` (real servers) and `test/unit`.
 */
export { BusError, type BusErrorDetails, type BusErrorReason } from './errors';
export type * from './entries';
export * from './ids';
export type * from './port';
export { defineScript, type RawReply, type Script, type ScriptArgument, type ScriptDefinition } from './scripts/script';
export {
  Reject,
  RetryLater,
  type Handler,
  type HandlerContext,
  type HandlerLog,
  type Message,
} from './consume/handler';
export * from './companionKeys';
export * from './deadLetters';
export { slotOf } from './redis/slots';
