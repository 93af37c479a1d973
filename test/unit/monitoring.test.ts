/** What the worker answers monitoring, without a server: health by the state of the consumers, metrics as Prometheus reads them. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { bytesToText } from '../../src/base/byteText';
import type { ConsumerHealth, MetricDefinition } from '../../src/bus';
import { metricDefinitions } from '../../src/bus/telemetry/metrics';
import { answerMonitoring, startMonitoringServer } from '../../src/worker/telemetry/monitoringServer';
import { prometheusMetrics } from '../../src/worker/telemetry/prometheusMetrics';

describe('Monitoring', () => {
  const { registry } = prometheusMetrics();
  const healthOf = (status: ConsumerHealth['status']): ConsumerHealth => ({
    status,
    lastProgressAgeMs: 5,
    queued: 1,
    inFlight: 2,
    stuck: 0,
    unsettled: 3,
    reconnects: 4,
    lastError: new Error('with a secret'),
  });
  const ask = async (path: string, ...states: ConsumerHealth['status'][]): Promise<number | undefined> => {
    const consumers = Object.fromEntries(states.map((status, index) => [`c${index}`, healthOf(status)]));
    return (await answerMonitoring(path, { registry, consumers: () => consumers }))?.status;
  };

  for (const [status, alive, ready] of [
    ['starting', 200, 503],
    ['running', 200, 200],
    ['paused', 200, 503],
    ['reconnecting', 200, 503],
    ['closing', 200, 503],
    ['stalled', 503, 503],
    ['failed', 503, 503],
  ] as const) {
    it(`answers ${alive} and ${ready} to who asks for the health and readiness of a consumer that is ${status}`, async () => {
      assert.equal(await ask('/healthz', status), alive);
      assert.equal(await ask('/readyz', status), ready);
      assert.equal(await ask('/readyz', 'running', status), ready, 'the worst of two counts');
    });
  }

  it('answers whatever is asked for, also when it is no URL, and does not fail over it', async () => {
    const server = await startMonitoringServer(0, { registry, consumers: () => ({}) });
    const statusOf = async (target: string): Promise<string> => {
      const socket = connect(server.port, '127.0.0.1');
      socket.end(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
      await once(socket, 'close');
      return text.slice(0, 12);
    };
    try {
      for (const target of ['//', 'http://[', '/%', '*', '/healthz/..'])
        assert.equal(await statusOf(target), 'HTTP/1.1 404', target);
      for (const target of ['/healthz', '/healthz?now', 'http://elsewhere/healthz'])
        assert.equal(await statusOf(target), 'HTTP/1.1 200', target);
    } finally {
      await server.close();
    }
  });

  it('is alive but not ready before there is any consumer', async () => {
    assert.equal(await ask('/healthz'), 200);
    assert.equal(await ask('/readyz'), 503);
  });

  it('tells how each consumer is doing, and no error', async () => {
    const answer = await answerMonitoring('/healthz', { registry, consumers: () => ({ ana: healthOf('running') }) });
    assert.deepEqual(JSON.parse(answer?.body ?? ''), {
      status: 'ok',
      consumers: {
        ana: {
          status: 'running',
          lastProgressAgeMs: 5,
          queued: 1,
          inFlight: 2,
          stuck: 0,
          unsettled: 3,
          reconnects: 4,
        },
      },
    });
  });

  it('knows no other path', async () => {
    assert.equal(await ask('/'), undefined);
  });

  describe('by Prometheus', () => {
    it('has the right sums, counts and buckets, as text and as JSON', async () => {
      const metrics = prometheusMetrics();
      const metric: MetricDefinition = { ...metricDefinitions.processDuration, labels: ['stream'], buckets: [0.1, 1] };
      const histogram = metrics.histogram(metric, { stream: 's' });
      for (const value of [0.05, 0.1, 0.5, 7]) histogram.record(value);
      metrics.counter(metricDefinitions.retried, { stream: 's', group: 'g' }).add(2);
      // Asking again gives the same series.
      metrics.counter(metricDefinitions.retried, { stream: 's', group: 'g' }).add(3);
      assert.equal(
        await metrics.registry.metrics(),
        `# HELP messaging_process_duration_seconds ${metric.description}
# TYPE messaging_process_duration_seconds histogram
messaging_process_duration_seconds_bucket{le="0.1",stream="s"} 2
messaging_process_duration_seconds_bucket{le="1",stream="s"} 3
messaging_process_duration_seconds_bucket{le="+Inf",stream="s"} 4
messaging_process_duration_seconds_sum{stream="s"} 7.65
messaging_process_duration_seconds_count{stream="s"} 4

# HELP bus_deliveries_retried_total ${metricDefinitions.retried.description}
# TYPE bus_deliveries_retried_total counter
bus_deliveries_retried_total{stream="s",group="g"} 5
`,
      );
      const json = await metrics.registry.getMetricsAsJSON();
      const [stored] = json;
      assert.ok(stored);
      assert.equal(stored.type, 'histogram');
      assert.deepEqual(stored.values.at(-1), {
        metricName: 'messaging_process_duration_seconds_count',
        labels: { stream: 's' },
        value: 4,
      });
      const scrapedAgain = await metrics.registry.metrics();
      assert.match(
        scrapedAgain,
        /bus_deliveries_retried_total\{stream="s",group="g"\} 5\n/,
        'scraping counts nothing twice',
      );
    });

    it('writes names that are not UTF-8, or would break the text, so that they stay apart', async () => {
      const metrics = prometheusMetrics();
      for (const bytes of [[0xff], [0xfe], [0x22], [0x5c], [0x0a]])
        metrics.counter(metricDefinitions.retried, { stream: bytesToText(Buffer.from(bytes)), group: 'g' }).add(1);
      const lines = (await metrics.registry.metrics()).split('\n').filter((line) => line.endsWith(' 1'));
      assert.deepEqual(
        lines.map((line) => /stream="(.*)",group/.exec(line)?.[1]),
        ['\\\\xff', '\\\\xfe', '\\"', '\\\\', '\\\\n'],
      );
    });
  });
});
