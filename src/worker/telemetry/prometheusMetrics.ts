import { Counter as PromCounter, Gauge as PromGauge, Histogram as PromHistogram, Registry } from 'prom-client';
import { displayText } from '../../base/byteText';
import type { Counter, Histogram, Measurement, MetricDefinition, MetricLabels, Metrics } from '../../bus';

/** The bus's metrics as Prometheus reads them, and the registry that writes them. */
export interface PrometheusMetrics extends Metrics {
  readonly registry: Registry;
}

/**
 * Keeps the bus's metrics for Prometheus. Counting touches only a number of our own, because prom-client makes a text of the labels at
 * every call; the registry takes the numbers when it is scraped.
 */
export function prometheusMetrics(registry = new Registry()): PrometheusMetrics {
  const counters = new Families<StoredCounter>((metric) => {
    const series = new Map<string, StoredCounter>();
    new PromCounter({
      ...described(metric),
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, total } of series.values()) this.inc(labels, total);
      },
    });
    return series;
  });
  const histograms = new Families<StoredHistogram>((metric) => {
    const series = new Map<string, StoredHistogram>();
    registry.registerMetric(new StoredFamily(metric, series));
    return series;
  });
  const gauges = new GaugeFamilies(registry);
  return {
    registry,
    counter: (metric, labels) => counters.series(metric, labels, () => new StoredCounter(filled(metric, labels))),
    histogram: (metric, labels) =>
      histograms.series(
        metric,
        labels,
        () => new StoredHistogram(filled(metric, labels), Float64Array.from(metric.buckets ?? [])),
      ),
    gauges: (metrics, measure) => gauges.add(metrics, measure),
  };
}

/** The name of a metric in Prometheus: its unit and `_total` at the end, the operation in place of the word. */
export function prometheusName({ name, kind, unit, operation }: MetricDefinition): string {
  const told = operation === undefined ? name : name.replace('operation', snakeCase(operation));
  return `${told.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}${kind === 'counter' ? '_total' : ''}`;
}

class StoredCounter implements Counter {
  total = 0;

  constructor(readonly labels: Record<string, string>) {}

  add(count: number): void {
    this.total += count;
  }
}

class StoredHistogram implements Histogram {
  readonly counts: Float64Array;
  count = 0;
  sum = 0;

  constructor(
    readonly labels: Record<string, string>,
    readonly bounds: Float64Array,
  ) {
    this.counts = new Float64Array(bounds.length);
  }

  record(value: number): void {
    const { bounds, counts } = this;
    this.count += 1;
    this.sum += value;
    for (let index = 0; index < bounds.length; index += 1) {
      if (value > (bounds[index] ?? 0)) continue;
      counts[index] = (counts[index] ?? 0) + 1;
      return;
    }
  }
}

/** One line of a histogram, as the registry writes it. */
interface HistogramLine {
  readonly metricName: string;
  readonly labels: Readonly<Record<string, string | number>>;
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A histogram for the registry whose values are stored by us. */
class StoredFamily extends PromHistogram {
  private readonly family: { readonly name: string; readonly help: string };

  constructor(
    metric: MetricDefinition,
    private readonly series: ReadonlyMap<string, StoredHistogram>,
  ) {
    super({ ...described(metric), buckets: [...(metric.buckets ?? [])], registers: [] });
    this.family = described(metric);
  }

  /** What the registry writes as text, and what `get` answers from. */
  getForPromString(): Promise<object> {
    const { name, help } = this.family;
    const values = [...this.series.values()].flatMap((stored) => linesOf(name, stored));
    return Promise.resolve({ name, help, type: 'histogram', values, aggregator: 'sum' });
  }
}

function linesOf(
  name: string,
  { labels: sharedLabels, bounds, counts, count, sum }: StoredHistogram,
): readonly HistogramLine[] {
  const line = (suffix: string, labels: HistogramLine['labels'], value: number): HistogramLine => ({
    metricName: `${name}_${suffix}`,
    labels,
    sharedLabels,
    value,
  });
  let below = 0;
  const buckets = [...bounds].map((bound, index) => {
    below += counts[index] ?? 0;
    return line('bucket', { le: bound }, below);
  });
  return [...buckets, line('bucket', { le: '+Inf' }, count), line('sum', {}, sum), line('count', {}, count)];
}

/** Gauges are measured when they are scraped: all of one registration by one measurement. */
class GaugeFamilies {
  private readonly families = new Map<string, PromGauge>();
  private readonly sources = new Set<() => Promise<readonly Measurement[]>>();
  private collecting: Promise<readonly Measurement[]> | undefined;

  constructor(private readonly registry: Registry) {}

  add(metrics: readonly MetricDefinition[], measure: () => Promise<readonly Measurement[]>): { dispose(): void } {
    for (const metric of metrics) this.families.set(metric.name, this.families.get(metric.name) ?? this.make(metric));
    this.sources.add(measure);
    return { dispose: () => void this.sources.delete(measure) };
  }

  private make(metric: MetricDefinition): PromGauge {
    const collect = (): Promise<readonly Measurement[]> => this.collect();
    return new PromGauge({
      ...described(metric),
      registers: [this.registry],
      async collect() {
        const measured = await collect();
        this.reset();
        for (const { metric: of, labels, value } of measured)
          if (of.name === metric.name) this.set(filled(metric, labels), value);
      },
    });
  }

  /** One measurement for all gauges of a scrape, which asks for them in the same tick. */
  private collect(): Promise<readonly Measurement[]> {
    this.collecting ??= Promise.all([...this.sources].map((measure) => measure()))
      .then((measured) => measured.flat())
      .finally(() => {
        this.collecting = undefined;
      });
    return this.collecting;
  }
}

/** The series of every metric, made when they are first asked for. */
class Families<Stored> {
  private readonly families = new Map<string, Map<string, Stored>>();

  constructor(private readonly make: (metric: MetricDefinition) => Map<string, Stored>) {}

  series(metric: MetricDefinition, labels: MetricLabels, store: () => Stored): Stored {
    const name = prometheusName(metric);
    const family = this.families.get(name) ?? this.make(metric);
    this.families.set(name, family);
    const key = JSON.stringify(filled(metric, labels));
    const stored = family.get(key) ?? store();
    family.set(key, stored);
    return stored;
  }
}

function described(metric: MetricDefinition): { name: string; help: string; labelNames: string[] } {
  return { name: prometheusName(metric), help: metric.description, labelNames: [...metric.labels] };
}

/**
 * Every label of the metric, in its order; what is not given is empty, which to Prometheus is the same as absent. Names that are not UTF-8
 * are written with escapes: as they are they would all look the same to it, and it refuses a series that comes twice.
 */
function filled(metric: MetricDefinition, labels: MetricLabels): Record<string, string> {
  return Object.fromEntries(metric.labels.map((name) => [name, displayed(labels[name] ?? '')]));
}

function displayed(value: string): string {
  return value === '' ? '' : displayText(value);
}

function snakeCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
