import type { Disposable } from '../../base/disposables';
import { conventionMetrics, ownMetrics } from './names';
import type { Operation } from './names';

/** The only labels that a metric has. Every value is a name that the program gave, or one of a fixed set: never from a message. */
export interface MetricLabels {
  readonly stream?: string;
  readonly group?: string;
  readonly type?: string;
  readonly outcome?: string;
}

/** What a metric is. The name is that of OpenTelemetry; `unit` is `s` or a thing in braces, as UCUM has it. */
export interface MetricDefinition {
  readonly name: string;
  readonly kind: 'counter' | 'histogram' | 'gauge';
  readonly unit: string;
  readonly description: string;
  readonly labels: readonly (keyof MetricLabels)[];
  /** For the duration of operations, which one: they share a name in OpenTelemetry. */
  readonly operation?: Operation;
  /** The upper bounds of a histogram's buckets. */
  readonly buckets?: readonly number[];
}

/** Counts under one set of labels. */
export interface Counter {
  add(count: number): void;
}

/** Records values under one set of labels. */
export interface Histogram {
  record(value: number): void;
}

/** One value of a gauge. */
export interface Measurement {
  readonly metric: MetricDefinition;
  readonly labels: MetricLabels;
  readonly value: number;
}

/**
 * Where the bus's metrics go. Instruments are asked for once for each set of labels and kept, so that counting a message makes no
 * object. Asking again for the same gives an instrument that adds to the same series.
 */
export interface Metrics {
  counter(metric: MetricDefinition, labels: MetricLabels): Counter;
  histogram(metric: MetricDefinition, labels: MetricLabels): Histogram;
  /**
   * Gauges are measured only by whoever collects: `measure` asks the server, so it is to be called at each collection or at an interval
   * of the implementation's own, and not otherwise. A series that one measurement leaves out is unknown, not 0.
   */
  gauges(metrics: readonly MetricDefinition[], measure: () => Promise<readonly Measurement[]>): Disposable;
}

/** The buckets that the conventions recommend for durations in seconds. */
export const durationBuckets: readonly number[] = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

const message = '{message}';
const perGroup = ['stream', 'group'] as const;

/** All metrics of the bus. */
export const metricDefinitions = {
  sentMessages: {
    name: conventionMetrics.sentMessages,
    kind: 'counter',
    unit: message,
    description: 'Messages that were to be published, by how that ended.',
    labels: ['stream', 'type', 'outcome'],
  },
  consumedMessages: {
    name: conventionMetrics.consumedMessages,
    kind: 'counter',
    unit: message,
    description: 'Messages that were handed to a handler.',
    labels: ['stream', 'group', 'type'],
  },
  processDuration: {
    name: conventionMetrics.processDuration,
    kind: 'histogram',
    unit: 's',
    description: 'How long handlers took, by how they ended.',
    labels: ['stream', 'group', 'type', 'outcome'],
    buckets: durationBuckets,
  },
  publishDuration: operationDuration('publish', ['stream', 'outcome'], 'How long publishing took.'),
  readDuration: operationDuration(
    'read',
    [...perGroup, 'outcome'],
    'How long reads of new messages took, the waiting for messages included.',
  ),
  reclaimDuration: operationDuration(
    'reclaim',
    [...perGroup, 'outcome'],
    'How long looking for messages to take over took.',
  ),
  ackDuration: operationDuration('ack', [...perGroup, 'outcome'], 'How long acknowledging took.'),
  nackDuration: operationDuration('nack', [...perGroup, 'outcome'], 'How long scheduling retries took.'),
  releaseDuration: operationDuration('release', [...perGroup, 'outcome'], 'How long giving messages back took.'),
  deadLetterDuration: operationDuration(
    'deadLetter',
    [...perGroup, 'outcome'],
    'How long moving messages to the dead letters took.',
  ),
  redelivered: own('redelivered', message, 'Messages handed to a handler that had been delivered before.'),
  retried: own('retried', message, 'Retries that were scheduled.'),
  deadLettered: {
    ...own('deadLettered', message, 'Messages that became dead letters; the outcome is the reason.'),
    labels: [...perGroup, 'outcome'],
  },
  settledElsewhere: own(
    'settledElsewhere',
    message,
    'Handled messages that somebody else had settled, perhaps after handling them too.',
  ),
  lostToTrim: own('lostToTrim', message, 'Pending messages that were deleted or trimmed before they were handled.'),
  handlerTimeouts: own('handlerTimeouts', '{timeout}', 'Handlers whose time was up.'),
  ownershipLost: own('ownershipLost', message, 'Messages that another consumer took while they were held here.'),
  readerReconnects: own('readerReconnects', '{reconnect}', 'Times that a broken reading connection was made again.'),
  groupRecreated: own('groupRecreated', '{group}', 'Times that a vanished group was created again.'),
  inFlight: gauge('inFlight', message, 'Handlers of this process that run.'),
  lag: gauge('lag', message, 'Messages that the group has still to read; absent while the server cannot tell.'),
  pending: gauge('pending', message, 'Messages that were delivered to the group and not acknowledged.'),
  oldestPendingAge: gauge('oldestPendingAge', 's', 'Age of the oldest message that is pending; 0 when none is.'),
  deadLength: gauge('deadLength', message, 'Length of the dead-letter stream.'),
  consumerIdle: gauge(
    'consumerIdle',
    's',
    'Longest time that a consumer of the group which holds pending messages was idle; a dead worker shows here.',
  ),
} satisfies Record<string, MetricDefinition>;

/** The gauges, which a sampler measures together. */
export const gaugeDefinitions: readonly MetricDefinition[] = Object.values(metricDefinitions).filter(
  ({ kind }: MetricDefinition) => kind === 'gauge',
);

function operationDuration(
  operation: Operation,
  labels: readonly (keyof MetricLabels)[],
  description: string,
): MetricDefinition {
  const { operationDuration: name } = conventionMetrics;
  return { name, kind: 'histogram', unit: 's', description, labels, operation, buckets: durationBuckets };
}

function own(name: keyof typeof ownMetrics, unit: string, description: string): MetricDefinition {
  return { name: ownMetrics[name], kind: 'counter', unit, description, labels: perGroup };
}

function gauge(name: keyof typeof ownMetrics, unit: string, description: string): MetricDefinition {
  return { name: ownMetrics[name], kind: 'gauge', unit, description, labels: perGroup };
}
