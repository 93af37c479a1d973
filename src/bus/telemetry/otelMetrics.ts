import { metrics as api } from '@opentelemetry/api';
import type { Attributes, Meter, MetricOptions, ObservableGauge } from '@opentelemetry/api';
import type { Counter, MetricDefinition, MetricLabels, Metrics } from './metrics';
import { conventionAttributes, instrumentationScope, messagingSystem, operations, ownAttributes } from './names';
import type { ServerAddress } from './telemetry';

/** The instruments of each meter, by name: the buses of a process count into the same series, of which only one can be told. */
const instrumentsOf = new WeakMap<Meter, Map<string, unknown>>();

/** Outcomes that are no failure. */
const fine: ReadonlySet<string> = new Set(['ok', 'completed', 'duplicate']);

/**
 * The bus's metrics by the OpenTelemetry API. An SDK that is registered when the first instrument is made gets them; without one nothing
 * is recorded and no gauge is ever measured.
 */
export function otelMetrics({ server }: { readonly server?: ServerAddress | undefined } = {}): Metrics {
  let meter: Meter | undefined;
  const once = <T>(name: string, make: (meter: Meter) => T): T => {
    meter ??= api.getMeter(instrumentationScope);
    const instruments = instrumentsOf.get(meter) ?? new Map<string, unknown>();
    instrumentsOf.set(meter, instruments);
    // One name has one kind, so that what is found is what would be made.
    const made = (instruments.get(name) as T | undefined) ?? make(meter);
    instruments.set(name, made);
    return made;
  };
  const common: Attributes = {
    [conventionAttributes.systemName]: messagingSystem,
    [conventionAttributes.system]: messagingSystem,
    ...(server
      ? { [conventionAttributes.serverAddress]: server.host, [conventionAttributes.serverPort]: server.port }
      : {}),
  };
  return {
    counter(metric, labels) {
      const series = once(metric.name, (to) => {
        const stored = new Map<string, StoredCounter>();
        to.createObservableCounter(metric.name, optionsOf(metric)).addCallback((result) => {
          for (const { total, attributes } of stored.values()) result.observe(total, attributes);
        });
        return stored;
      });
      const attributes = attributesOf(common, metric, labels);
      const key = JSON.stringify(attributes);
      const counter = series.get(key) ?? new StoredCounter(attributes);
      series.set(key, counter);
      return counter;
    },
    histogram(metric, labels) {
      const histogram = once(metric.name, (to) => to.createHistogram(metric.name, optionsOf(metric)));
      const attributes = attributesOf(common, metric, labels);
      return {
        record: (value) => {
          histogram.record(value, attributes);
        },
      };
    },
    gauges(definitions, measure) {
      const gauges = new Map<string, ObservableGauge>(
        definitions.map((metric) => [
          metric.name,
          once(metric.name, (to) => to.createObservableGauge(metric.name, optionsOf(metric))),
        ]),
      );
      const to = meter ?? api.getMeter(instrumentationScope);
      const observe: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
        for (const { metric, labels, value } of await measure()) {
          const gauge = gauges.get(metric.name);
          if (gauge) result.observe(gauge, value, attributesOf(common, metric, labels));
        }
      };
      const observed = [...gauges.values()];
      to.addBatchObservableCallback(observe, observed);
      return {
        dispose: () => {
          to.removeBatchObservableCallback(observe, observed);
        },
      };
    },
  };
}

/** Counts are kept here and told at each collection: the SDK makes a text of the attributes at every call. */
class StoredCounter implements Counter {
  total = 0;

  constructor(readonly attributes: Attributes) {}

  add(count: number): void {
    this.total += count;
  }
}

function optionsOf({ unit, description: own, operation, buckets }: MetricDefinition): MetricOptions {
  // All operations share one instrument.
  const description = operation === undefined ? own : 'How long an operation on the server took.';
  return { unit, description, ...(buckets ? { advice: { explicitBucketBoundaries: [...buckets] } } : {}) };
}

function attributesOf(common: Attributes, metric: MetricDefinition, labels: MetricLabels): Attributes {
  const { stream, group, type, outcome } = labels;
  const attributes: Attributes = { ...common };
  if (metric.operation !== undefined) {
    const { name, type: kind } = operations[metric.operation];
    attributes[conventionAttributes.operationName] = name;
    attributes[conventionAttributes.operationType] = kind;
  }
  if (stream !== undefined) attributes[conventionAttributes.destination] = stream;
  if (group !== undefined) attributes[conventionAttributes.group] = group;
  if (type !== undefined && type !== '') attributes[ownAttributes.messageType] = type;
  if (outcome !== undefined) {
    attributes[ownAttributes.outcome] = outcome;
    if (metric.kind === 'histogram' && !fine.has(outcome)) attributes[conventionAttributes.errorType] = outcome;
  }
  return attributes;
}
