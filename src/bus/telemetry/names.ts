/**
 * Every name that the bus's telemetry uses: spans, attributes, metrics, channels.
 *
 * The messaging conventions of OpenTelemetry are still in development and their package changes with them, so the names of release
 * 1.45 are pinned here as plain text; `test/unit/telemetryNames.test.ts` compares them with that release. Names of our own begin
 * with `messaging.redis.` (attributes) and `bus.` (metrics).
 */

/** Names that the conventions define. */
export const conventionAttributes = {
  systemName: 'messaging.system.name',
  /** What `messaging.system.name` was called before 1.45; both are told, because backends still look for this one. */
  system: 'messaging.system',
  operationName: 'messaging.operation.name',
  operationType: 'messaging.operation.type',
  destination: 'messaging.destination.name',
  group: 'messaging.consumer.group.name',
  clientId: 'messaging.client.id',
  messageId: 'messaging.message.id',
  conversationId: 'messaging.message.conversation_id',
  batchCount: 'messaging.batch.message_count',
  errorType: 'error.type',
  serverAddress: 'server.address',
  serverPort: 'server.port',
} as const;

/** Attributes that the conventions have no name for. */
export const ownAttributes = {
  messageType: 'messaging.redis.message.type',
  deliveryCount: 'messaging.redis.delivery_count',
  deadLetterReason: 'messaging.redis.dead_letter.reason',
  outcome: 'messaging.redis.outcome',
} as const;

/** The value of `messaging.system.name`; not among the well-known ones, which may be extended. */
export const messagingSystem = 'redis';

/** What a span or an operation's duration is about: the name of the operation and its type by the conventions. */
export const operations = {
  publish: { name: 'publish', type: 'send' },
  process: { name: 'process', type: 'process' },
  read: { name: 'read', type: 'receive' },
  reclaim: { name: 'reclaim', type: 'receive' },
  ack: { name: 'ack', type: 'settle' },
  nack: { name: 'nack', type: 'settle' },
  release: { name: 'release', type: 'settle' },
  deadLetter: { name: 'dead-letter', type: 'settle' },
} as const;

/** An operation by its key in `operations`. */
export type Operation = keyof typeof operations;

/** Metrics that the conventions define. */
export const conventionMetrics = {
  sentMessages: 'messaging.client.sent.messages',
  consumedMessages: 'messaging.client.consumed.messages',
  operationDuration: 'messaging.client.operation.duration',
  processDuration: 'messaging.process.duration',
} as const;

/** Metrics of our own. */
export const ownMetrics = {
  redelivered: 'bus.deliveries.redelivered',
  retried: 'bus.deliveries.retried',
  deadLettered: 'bus.deliveries.dead_lettered',
  settledElsewhere: 'bus.deliveries.settled_elsewhere',
  lostToTrim: 'bus.deliveries.lost_to_trim',
  handlerTimeouts: 'bus.handler.timeouts',
  ownershipLost: 'bus.ownership.lost',
  readerReconnects: 'bus.reader.reconnects',
  groupRecreated: 'bus.group.recreated',
  inFlight: 'bus.inflight',
  lag: 'bus.group.lag',
  pending: 'bus.group.pending',
  oldestPendingAge: 'bus.group.oldest_pending_age',
  deadLength: 'bus.dead.length',
  consumerIdle: 'bus.consumer.idle',
} as const;

/** The fields in which trace context travels: W3C Trace Context and Baggage. */
export const traceFields = { parent: 'traceparent', state: 'tracestate', baggage: 'baggage' } as const;

/** The channels of `node:diagnostics_channel`. */
export const channelNames = { publish: 'bus:publish', process: 'bus:process', settle: 'bus:settle' } as const;

/** The name under which tracers and meters are asked for. */
export const instrumentationScope = 'redis-streams-bus';

/** The label of a type that the topic and the handlers do not know, so that no message can make new series. */
export const otherType = '_other';

/** The fields of structured logs. */
export const logFields = {
  stream: 'stream',
  group: 'group',
  consumer: 'consumer',
  messageId: 'message_id',
  type: 'type',
  deliveryCount: 'delivery_count',
  durationMs: 'duration_ms',
  errorKind: 'error_kind',
} as const;
