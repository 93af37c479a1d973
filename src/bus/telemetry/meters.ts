import { metricDefinitions } from './metrics';
import type { Counter, Histogram, MetricDefinition, MetricLabels, Metrics } from './metrics';
import { otherType } from './names';
import type { Operation } from './names';

/** The types that may be labels: those that the topic or the handlers name. Any other is `_other`, and no type is no label. */
export class KnownTypes {
  private readonly known: ReadonlySet<string>;

  constructor(types: Iterable<string> = []) {
    this.known = new Set(types);
  }

  label(type: string | undefined): string {
    return type === undefined ? '' : this.known.has(type) ? type : otherType;
  }
}

/** The instruments of the handlers of a group, made once. */
export class HandlerMeters {
  readonly redelivered: Counter;
  private readonly types = new Map<string, TypeMeters>();

  constructor(
    protected readonly metrics: Metrics,
    protected readonly labels: { readonly stream: string; readonly group: string },
  ) {
    this.redelivered = metrics.counter(metricDefinitions.redelivered, labels);
  }

  /** Of messages of a type; `label` is one of a fixed set. */
  ofType(label: string): TypeMeters {
    let meters = this.types.get(label);
    if (!meters) {
      meters = new TypeMeters(this.metrics, { ...this.labels, type: label });
      this.types.set(label, meters);
    }
    return meters;
  }
}

/** The instruments of a consumer. Those whose labels are all known begin at 0, so that a first increase is seen as one. */
export class ConsumerMeters extends HandlerMeters {
  readonly retried = this.counter(metricDefinitions.retried);
  readonly settledElsewhere = this.counter(metricDefinitions.settledElsewhere);
  readonly lostToTrim = this.counter(metricDefinitions.lostToTrim);
  readonly handlerTimeouts = this.counter(metricDefinitions.handlerTimeouts);
  readonly ownershipLost = this.counter(metricDefinitions.ownershipLost);
  readonly readerReconnects = this.counter(metricDefinitions.readerReconnects);
  readonly groupRecreated = this.counter(metricDefinitions.groupRecreated);
  private readonly deadLetters = new Map<string, Counter>();
  private readonly operations = new Map<string, Histogram>();

  deadLettered(reason: string): Counter {
    let counter = this.deadLetters.get(reason);
    if (!counter) {
      counter = this.metrics.counter(metricDefinitions.deadLettered, { ...this.labels, outcome: reason });
      this.deadLetters.set(reason, counter);
    }
    return counter;
  }

  /** How long an operation takes; `outcome` is `ok` or the reason of a BusError. */
  operation(operation: ConsumerOperation, outcome: string): Histogram {
    const key = `${operation} ${outcome}`;
    let histogram = this.operations.get(key);
    if (!histogram) {
      histogram = this.metrics.histogram(durations[operation], { ...this.labels, outcome });
      this.operations.set(key, histogram);
    }
    return histogram;
  }

  private counter(metric: MetricDefinition): Counter {
    return this.metrics.counter(metric, this.labels);
  }
}

/** What a consumer does on the server. */
export type ConsumerOperation = Exclude<Operation, 'publish' | 'process'>;

const durations: Readonly<Record<ConsumerOperation, MetricDefinition>> = {
  read: metricDefinitions.readDuration,
  reclaim: metricDefinitions.reclaimDuration,
  ack: metricDefinitions.ackDuration,
  nack: metricDefinitions.nackDuration,
  release: metricDefinitions.releaseDuration,
  deadLetter: metricDefinitions.deadLetterDuration,
};

/** The instruments of the messages of one type. */
export class TypeMeters {
  readonly consumed: Counter;
  /** Of handlers that returned; the others are looked up. */
  readonly completed: Histogram;
  private readonly others = new Map<string, Histogram>();

  constructor(
    private readonly metrics: Metrics,
    private readonly labels: MetricLabels,
  ) {
    this.consumed = metrics.counter(metricDefinitions.consumedMessages, labels);
    this.completed = metrics.histogram(metricDefinitions.processDuration, { ...labels, outcome: 'completed' });
  }

  duration(outcome: string): Histogram {
    if (outcome === 'completed') return this.completed;
    let histogram = this.others.get(outcome);
    if (!histogram) {
      histogram = this.metrics.histogram(metricDefinitions.processDuration, { ...this.labels, outcome });
      this.others.set(outcome, histogram);
    }
    return histogram;
  }
}

/** How many streams get labels of their own when they are published to; a program that makes streams by the thousand gets `_other`. */
const maxStreams = 200;

/** The instruments of publishing. */
export class PublishMeters {
  private readonly streams = new Map<string, StreamMeters>();

  constructor(private readonly metrics: Metrics) {}

  of(stream: string): StreamMeters {
    const known = this.streams.get(stream);
    if (known) return known;
    const label = this.streams.size < maxStreams ? stream : otherType;
    const meters = this.streams.get(label) ?? new StreamMeters(this.metrics, label);
    this.streams.set(label, meters);
    return meters;
  }
}

/** The instruments of publishing to one stream. */
export class StreamMeters {
  private readonly sentBy = new Map<string, Map<string, Counter>>();
  private readonly durations = new Map<string, Histogram>();

  constructor(
    private readonly metrics: Metrics,
    private readonly stream: string,
  ) {}

  /** Counts a message of a type by how publishing it ended; both are of a fixed set. */
  sent(type: string, outcome: string): Counter {
    const { stream } = this;
    const ofType = this.sentBy.get(type) ?? new Map<string, Counter>();
    this.sentBy.set(type, ofType);
    let counter = ofType.get(outcome);
    if (!counter) {
      counter = this.metrics.counter(metricDefinitions.sentMessages, { stream, type, outcome });
      ofType.set(outcome, counter);
    }
    return counter;
  }

  duration(outcome: string): Histogram {
    let histogram = this.durations.get(outcome);
    if (!histogram) {
      histogram = this.metrics.histogram(metricDefinitions.publishDuration, { stream: this.stream, outcome });
      this.durations.set(outcome, histogram);
    }
    return histogram;
  }
}
