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
  type HandlerOf,
  type HandlersOf,
  type HandlerContext,
  type HandlerLog,
  type Message,
} from './consume/handler';
export * from './companionKeys';
export * from './deadLetters';
export { lazyPort } from './lazyPort';
export { connectRedis, type RedisPortOptions } from './redis/connect';
export type { Traffic } from './redis/link';
export type { RedisPort } from './redis/redisPort';
export type { Transaction, TransactionCall } from './redis/transaction';
export { slotOf } from './redis/slots';
export { parseRedisUrl, redactRedisUrl, type NodeAddress, type RedisUrl } from './redis/url';
export { allScripts } from './scripts';
export {
  deadLetter,
  maxDeadLetterItems,
  type DeadLetterItem,
  type DeadLetterReply,
  type DeadLetterResult,
} from './scripts/deadLetter';
export { removeGroup, type RemoveGroupResult } from './scripts/group';
export type { GuardRefusal, PendingGuard } from './scripts/guard';
export * from './scripts/pending';
export * from './scripts/replay';
export * from './scripts/settle';
export * from './scripts/stream';
export * from './scripts/takeOver';
// The bus itself is usable from here on: createBus, publishing, consuming, operating.
export { Bus, createBus, type BusOptions } from './bus';
export { ConfigError, type ConfigErrorReason } from './options';
export { DecodeError, EncodeError, fields, json, type Codec, type FieldsCodecOptions, type Outgoing } from './codecs';
export {
  topic,
  type ReceivedByType,
  type Retention,
  type SentByType,
  type StreamRef,
  type Topic,
  type TopicOptions,
} from './publish/topic';
export type { Schemas, SchemasByType } from './schemas';
export type { OutgoingMessage, PublishMiddleware } from './publish/middleware';
export { PublishError, type PublishErrorReason } from './publish/publishError';
export type { BatchResult, NewMessage, Published, PublishOptions } from './publish/publisher';
export { HandlerTimeoutError, OwnershipLostError, ShutdownError } from './consume/abortReasons';
export { exponential, type Backoff, type ExponentialOptions } from './consume/backoff';
export type { CloseReport } from './consume/closeReport';
export type { Consumer } from './consume/consumer';
export type { ConsumerOptions, Handlers, Middleware } from './consume/consumerOptions';
export type { ConsumerEventName, ConsumerEvents, HandledOutcome } from './consume/events';
export type { ConsumerHealth } from './consume/health';
export type { JournalOptions } from './consume/journalOptions';
export type { Lifeline } from './consume/lifeline';
export type { HistoryEvent, HistorySource } from './history/historyEvent';
export type { JournalEvent, JournalEventName } from './history/journalEvent';
export type { MessageHistory } from './history/messageHistory';
export type { DeadLetterQuery, DeadLetters, DeadLetterSelection, Replayed, ReplayOptions } from './operate/deadLetters';
export type { HandOverReport, TrimReport } from './operate/maintain';
export { createInspector, type Inspector } from './inspect/inspector';
export type { DeadLettersPage, DeadLetterStream } from './inspect/deadLetterStreams';
export type { EntriesPage, EntriesPosition } from './inspect/entriesPage';
export type { Figure, UnknownBecause } from './inspect/figures';
export type { FoundEntries } from './inspect/findEntry';
export type { ConsumerDescription, GroupDescription } from './inspect/groups';
export type { InspectPort } from './inspect/inspectPort';
export type { GroupInspection, StreamInspection } from './inspect/inspectStream';
export type { PendingPage, PendingPageQuery, PendingRow } from './inspect/pendingPage';
export type { EntryStandings, Standing } from './inspect/standing';
export type { StreamDescription, StreamsPage, StreamSummary } from './inspect/streams';
export {
  idempotencyKey,
  idempotent,
  type IdempotencyState,
  type IdempotencyStore,
  type IdempotentOptions,
} from './consume/idempotent';
export { memoryIdempotencyStore, redisIdempotencyStore } from './consume/idempotencyStores';
export { rateLimit, type RateLimitOptions } from './consume/rateLimit';
export type { Counter, Histogram, Measurement, MetricDefinition, MetricLabels, Metrics } from './telemetry/metrics';
export { otel, type OtelOptions } from './telemetry/otel';
export type { ServerAddress, Telemetry } from './telemetry/telemetry';
export type { CallSubject, OpenSpan, ProcessSubject, PublishSubject, SpanResult, Tracing } from './telemetry/tracing';
export type { ProcessMessage, PublishMessage, SettleMessage } from './telemetry/channels';
export {
  logging,
  metrics,
  openTelemetry,
  type KnownTypesOptions,
  type StructuredLog,
  type TelemetryMiddleware,
} from './telemetry/middleware';
export { errorKind } from './telemetry/errorKind';
