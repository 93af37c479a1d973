/** docs/telemetry.md has exactly the metrics, spans, attributes, fields of logs and channels that there are. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { metricDefinitions } from '../../src/bus/telemetry/metrics';
import type { MetricDefinition } from '../../src/bus/telemetry/metrics';
import {
  channelNames,
  conventionAttributes,
  logFields,
  operations,
  ownAttributes,
} from '../../src/bus/telemetry/names';
import { prometheusName } from '../../src/worker/telemetry/prometheusMetrics';

describe('docs/telemetry.md', () => {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/telemetry.md'), 'utf8');
  const rows = [...text.matchAll(/^\|(.*)\|$/gm)].map(([, cells]) =>
    (cells ?? '').split('|').map((cell) => cell.trim()),
  );

  it('has a row for every metric, with its names, kind and labels', () => {
    const told = rows
      .filter((cells) => /^`[a-z_]+`$/.test(cells[1] ?? '') && cells.length === 5)
      .map(([name, prometheus, kind, labels]) => [name, prometheus, kind, labels]);
    let last = '';
    const defined = (Object.values(metricDefinitions) as readonly MetricDefinition[]).map((metric) => {
      const name = metric.name === last ? '' : `\`${metric.name}\``;
      last = metric.name;
      return [name, `\`${prometheusName(metric)}\``, metric.kind, metric.labels.join(', ')];
    });
    assert.deepEqual(told.toSorted(), defined.toSorted());
  });

  it('has every span and every channel', () => {
    const first = rows.map(([cell]) => cell);
    for (const [operation, { name }] of Object.entries(operations))
      if (operation !== 'read') assert.ok(first.includes(`\`${name} {stream}\``), name);
    for (const name of Object.values(channelNames)) assert.ok(first.includes(`\`${name}\``), name);
  });

  it('has every attribute and every field of a log', () => {
    for (const name of [conventionAttributes, ownAttributes, logFields].flatMap((names) => Object.values(names)))
      assert.ok(text.includes(`\`${name}\``), name);
  });
});
