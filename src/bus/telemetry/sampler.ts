import type { Clock } from '../../base/clock';
import { companionKey } from '../companionKeys';
import { entryIdTimeMs } from '../ids';
import type { GroupName, StreamKey } from '../ids';
import { lagOf } from '../inspect/lag';
import { outcomeOf } from '../inspect/inspectPort';
import type { StreamPort } from '../port';
import { metricDefinitions } from './metrics';
import type { Measurement } from './metrics';

/** A consumer of this process, as the gauges see it. */
export interface Sampled {
  readonly stream: StreamKey;
  readonly group: GroupName;
  /** The key of its dead letters when it is not the companion key; false when it has none. */
  readonly deadLetters: StreamKey | false | undefined;
  /** How many of its handlers run. */
  inFlight(): number;
}

/** The calls with which gauges are measured: all of them only read. */
type SamplerPort = Pick<
  StreamPort,
  'capabilities' | 'serverTimeMs' | 'length' | 'streamInfo' | 'groupInfos' | 'pendingSummary' | 'consumerInfos'
>;

/** What measuring needs. */
export interface SamplerOptions {
  readonly port: SamplerPort;
  readonly clock: Clock;
}

/** A measurement is used again for so long, so that several collectors cost no more than one. */
const reuseMs = 1000;

/** After so long the gauges of the server are left out; a collector has its own time limit. */
const patienceMs = 2000;

/**
 * Measures the gauges of this process's consumers, when it is asked. All streams and groups are asked in the same tick, so that it takes
 * one round trip however many there are (on a cluster, to each node). What the server does not tell is left out, and so is all of it
 * while the server is not to be reached.
 */
export class Sampler {
  private readonly sampled = new Set<Sampled>();
  private last: { readonly atMs: number; readonly measured: Promise<readonly Measurement[]> } | undefined;

  constructor(private readonly options: SamplerOptions) {}

  add(sampled: Sampled): void {
    this.sampled.add(sampled);
  }

  remove(sampled: Sampled): void {
    this.sampled.delete(sampled);
  }

  /** The gauges now, or as they were a moment ago. */
  measure(): Promise<readonly Measurement[]> {
    const now = this.options.clock.now();
    if (!this.last || now - this.last.atMs >= reuseMs) this.last = { atMs: now, measured: this.fromServer() };
    return this.last.measured.then((measured) => [...this.inFlight(), ...measured]);
  }

  private inFlight(): readonly Measurement[] {
    const { inFlight: metric } = metricDefinitions;
    return this.groups().map(([{ stream, group }, consumers]) => ({
      metric,
      labels: { stream, group },
      value: consumers.reduce((sum, consumer) => sum + consumer.inFlight(), 0),
    }));
  }

  private async fromServer(): Promise<readonly Measurement[]> {
    const groups = this.groups();
    if (groups.length === 0) return [];
    let cancel: () => void = () => undefined;
    const tooLate = new Promise<readonly Measurement[]>((resolve) => {
      cancel = this.options.clock.after(patienceMs, () => {
        resolve([]);
      });
    });
    try {
      return await Promise.race([this.ask(groups.map(([first]) => first)), tooLate]);
    } finally {
      cancel();
    }
  }

  private async ask(groups: readonly Sampled[]): Promise<readonly Measurement[]> {
    const { port } = this.options;
    // Asked once and remembered by the port.
    const isCluster = await port.capabilities().then(
      (capabilities) => capabilities.isCluster,
      () => undefined,
    );
    if (isCluster === undefined) return [];
    const measured = await Promise.all(groups.map((group) => measureGroup(port, group, isCluster).catch(() => [])));
    return measured.flat();
  }

  /** The streams and groups, each with its consumers in this process. */
  private groups(): readonly (readonly [Sampled, Sampled[]])[] {
    const byGroup = new Map<string, [Sampled, Sampled[]]>();
    for (const sampled of this.sampled) {
      const key = JSON.stringify([sampled.stream, sampled.group]);
      const found = byGroup.get(key);
      if (found) found[1].push(sampled);
      else byGroup.set(key, [sampled, [sampled]]);
    }
    return [...byGroup.values()];
  }
}

async function measureGroup(
  port: SamplerPort,
  { stream, group, deadLetters }: Sampled,
  isCluster: boolean,
): Promise<readonly Measurement[]> {
  const deadKey = deadLetters ?? companionKey(stream, 'dlq', { isCluster }).key;
  const [info, infos, summary, consumers, dead, nowMs] = await Promise.all([
    outcomeOf(port.streamInfo(stream)),
    outcomeOf(port.groupInfos(stream)),
    outcomeOf(port.pendingSummary(stream, group)),
    outcomeOf(port.consumerInfos(stream, group)),
    deadKey === false ? undefined : outcomeOf(port.length(deadKey)),
    port.serverTimeMs(stream),
  ]);
  const labels = { stream, group };
  const measured: Measurement[] = [];
  const add = (metric: Measurement['metric'], value: number | undefined): void => {
    if (value !== undefined) measured.push({ metric, labels, value });
  };
  const own = infos.state === 'read' ? infos.value.find(({ name }) => name === group) : undefined;
  if (info.state === 'read' && own) {
    const lag = lagOf(own, info.value);
    add(metricDefinitions.lag, lag.kind === 'unknown' ? undefined : lag.value);
  }
  add(metricDefinitions.pending, own?.pending);
  if (summary.state === 'read') {
    const { firstId } = summary.value;
    const sinceMs = firstId === null ? nowMs : entryIdTimeMs(firstId);
    add(metricDefinitions.oldestPendingAge, sinceMs === undefined ? undefined : Math.max(0, nowMs - sinceMs) / 1000);
  }
  if (consumers.state === 'read') {
    const idleMs = consumers.value.filter(({ pending }) => pending > 0).map((consumer) => consumer.idleMs);
    add(metricDefinitions.consumerIdle, Math.max(0, ...idleMs) / 1000);
  }
  if (dead?.state === 'read') add(metricDefinitions.deadLength, dead.value);
  return measured;
}
