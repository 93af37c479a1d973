/** The handler contract, shown by the example that documents it. */
import assert from 'node:assert/strict';
import {
  consumerName,
  entryId,
  groupName,
  Reject,
  RetryLater,
  streamKey,
  type Handler,
  type HandlerContext,
  type Message,
} from '../../src/bus';
import { handle } from '../../src/worker/sampleHandler';

function message(fields: Readonly<Record<string, string>>): Message {
  const own: Record<string, string> = Object.assign(Object.create(null) as Record<string, string>, fields);
  return {
    id: entryId('1700000000000-0'),
    stream: streamKey('shop:orders'),
    type: undefined,
    fields: own,
    rawFields: Object.entries(fields).flatMap(([name, value]) => [Buffer.from(name), Buffer.from(value)]),
    body: own,
  };
}

function context(overrides: Partial<HandlerContext> = {}): HandlerContext & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (line: string): void => void lines.push(line);
  return {
    lines,
    group: groupName('billing'),
    consumer: consumerName('billing-1'),
    deliveryCount: 1,
    redelivered: false,
    publishedAtMs: 1_700_000_000_000,
    headers: {},
    signal: new AbortController().signal,
    log: { info: write, warn: write, error: write },
    extend: () => undefined,
    ...overrides,
  };
}

describe('the sample handler', () => {
  it('is a handler by the contract', () => {
    const handler: Handler = handle;
    assert.equal(handler.length, 2);
  });

  it('returns for a message that it can handle, and logs it without its payload', async () => {
    const own = context();
    await handle(message({ type: 'order.placed', payload: '{"secret":"canary"}' }), own);
    assert.deepEqual(own.lines, ['Handled']);
  });

  it('throws for the poison payment, each time', async () => {
    const poison = message({ type: 'payment.captured', payload: '{"amount":null}' });
    await assert.rejects(handle(poison, context()), TypeError);
    await assert.rejects(handle(poison, context({ deliveryCount: 2, redelivered: true })), /delivery 2/);
  });

  it('asks for a later retry of a cancelled order, once', async () => {
    const cancelled = message({ type: 'order.cancelled', payload: '{}' });
    await assert.rejects(
      handle(cancelled, context()),
      (error) => error instanceof RetryLater && error.delayMs === 2_000,
    );
    await handle(cancelled, context({ deliveryCount: 2, redelivered: true }));
  });

  it('rejects a payload that is not JSON', async () => {
    await assert.rejects(handle(message({ payload: '{"cut' }), context()), Reject);
  });

  it('stops when its signal aborts', async () => {
    const abort = new AbortController();
    const running = handle(message({ type: 'order.placed' }), context({ signal: abort.signal }));
    abort.abort(new Error('the worker closes'));
    await assert.rejects(running, /the worker closes/);
  });
});
