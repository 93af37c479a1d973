/** The pinned names of the bus's telemetry against the release of the conventions that they were pinned from. */
import assert from 'node:assert/strict';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { durationBuckets, metricDefinitions } from '../../src/bus/telemetry/metrics';
import type { MetricDefinition } from '../../src/bus/telemetry/metrics';
import {
  conventionAttributes,
  conventionMetrics,
  operations,
  ownAttributes,
  ownMetrics,
} from '../../src/bus/telemetry/names';

/** By name, because what is told only for backends that are behind is marked as deprecated. */
const formerly: Readonly<Record<string, unknown>> = conventions;

describe('The names of telemetry', () => {
  it('are those of the conventions where these have one', () => {
    assert.deepEqual(conventionAttributes, {
      systemName: conventions.ATTR_MESSAGING_SYSTEM_NAME,
      system: formerly.ATTR_MESSAGING_SYSTEM,
      operationName: conventions.ATTR_MESSAGING_OPERATION_NAME,
      operationType: conventions.ATTR_MESSAGING_OPERATION_TYPE,
      destination: conventions.ATTR_MESSAGING_DESTINATION_NAME,
      group: conventions.ATTR_MESSAGING_CONSUMER_GROUP_NAME,
      clientId: conventions.ATTR_MESSAGING_CLIENT_ID,
      messageId: conventions.ATTR_MESSAGING_MESSAGE_ID,
      conversationId: conventions.ATTR_MESSAGING_MESSAGE_CONVERSATION_ID,
      batchCount: conventions.ATTR_MESSAGING_BATCH_MESSAGE_COUNT,
      errorType: conventions.ATTR_ERROR_TYPE,
      serverAddress: conventions.ATTR_SERVER_ADDRESS,
      serverPort: conventions.ATTR_SERVER_PORT,
    });
    assert.deepEqual(conventionMetrics, {
      sentMessages: conventions.METRIC_MESSAGING_CLIENT_SENT_MESSAGES,
      consumedMessages: conventions.METRIC_MESSAGING_CLIENT_CONSUMED_MESSAGES,
      operationDuration: conventions.METRIC_MESSAGING_CLIENT_OPERATION_DURATION,
      processDuration: conventions.METRIC_MESSAGING_PROCESS_DURATION,
    });
  });

  it('are types of operations that the conventions know', () => {
    const known = new Set<string>(
      Object.entries(conventions)
        .filter(([name]) => name.startsWith('MESSAGING_OPERATION_TYPE_VALUE_'))
        .map(([, value]) => String(value)),
    );
    assert.ok(known.size > 3);
    for (const { type } of Object.values(operations)) assert.ok(known.has(type), type);
  });

  it('of our own do not take a name of the conventions', () => {
    const taken = new Set(Object.values(conventions).map(String));
    for (const name of [...Object.values(ownAttributes), ...Object.values(ownMetrics)])
      assert.ok(!taken.has(name), name);
    for (const name of Object.values(ownAttributes)) assert.match(name, /^messaging\.redis\.[a-z_.]+$/);
    for (const name of Object.values(ownMetrics)) assert.match(name, /^bus\.[a-z_.]+$/);
  });

  it('have only the labels that cannot explode', () => {
    const allowed = new Set(['stream', 'group', 'type', 'outcome']);
    for (const { name, labels } of Object.values(metricDefinitions) as readonly MetricDefinition[])
      for (const label of labels) assert.ok(allowed.has(label), `${name} has the label ${label}`);
  });

  it('define every metric once, or once for each operation', () => {
    const keys = (Object.values(metricDefinitions) as readonly MetricDefinition[]).map(
      ({ name, operation }) => `${name} ${operation ?? ''}`,
    );
    assert.equal(new Set(keys).size, keys.length);
    const named = new Set((Object.values(metricDefinitions) as readonly MetricDefinition[]).map(({ name }) => name));
    assert.deepEqual([...named].sort(), [...Object.values(conventionMetrics), ...Object.values(ownMetrics)].sort());
  });

  it('give durations the buckets that the conventions advise', () => {
    assert.deepEqual(durationBuckets, [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]);
  });
});
