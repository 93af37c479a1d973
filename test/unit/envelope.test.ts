/** The envelope's contract: the host's and the webview's side joined by a pipe that delays messages and can be held. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { PanelHost } from '../../src/panels/panelHost';
import type { PanelHostOptions, RequestHandlers } from '../../src/panels/panelHost';
import type { ErrorData } from '../../src/protocol/envelope';
import { PanelClient, RequestError } from '../../webview/panelClient';
import { eventually } from '../support/eventually';

// eslint-disable-next-line @typescript-eslint/consistent-type-definitions -- a type alias is assignable to the index signatures
type Contract = {
  readonly requests: {
    readonly echo: { readonly params: unknown; readonly result: unknown };
    readonly wait: { readonly params: { readonly name: string }; readonly result: string };
    readonly fail: { readonly params: null; readonly result: null };
    readonly throwNow: { readonly params: null; readonly result: null };
    readonly bad: { readonly params: { readonly what: string }; readonly result: unknown };
  };
  readonly events: { readonly tick: number; readonly odd: unknown };
};

interface Message {
  readonly kind: string;
  readonly generation: number;
  readonly id?: number;
  readonly dropped?: number;
  readonly [name: string]: unknown;
}

/** Carries messages both ways, cloned as postMessage does, one by one and only when it is let. */
class Pipe {
  readonly toHost: Message[] = [];
  readonly toWebview: Message[] = [];
  readonly sentByHost: Message[] = [];
  isHeld = false;
  private readonly hostListeners = new Set<(message: unknown) => void>();
  private readonly webviewListeners = new Set<(message: unknown) => void>();

  readonly host = {
    post: (message: unknown): void => {
      const clone = structuredClone(message) as Message;
      this.sentByHost.push(clone);
      this.toWebview.push(clone);
      this.deliverLater();
    },
    onMessage: (listener: (message: unknown) => void): { dispose(): void } => {
      this.hostListeners.add(listener);
      return { dispose: () => this.hostListeners.delete(listener) };
    },
  };

  readonly webview = {
    post: (message: unknown): void => {
      this.toHost.push(structuredClone(message) as Message);
      this.deliverLater();
    },
    onMessage: (listener: (message: unknown) => void): (() => void) => {
      this.webviewListeners.add(listener);
      return () => this.webviewListeners.delete(listener);
    },
  };

  /** Puts a message that neither side sent into the pipe. */
  forge(direction: 'toHost' | 'toWebview', message: unknown): void {
    this[direction].push(structuredClone(message) as Message);
    this.deliverLater();
  }

  /** Delivers the next message in one direction; false when there is none. */
  deliver(direction: 'toHost' | 'toWebview'): boolean {
    if (this[direction].length === 0) return false;
    const message = this[direction].shift();
    const listeners = direction === 'toHost' ? this.hostListeners : this.webviewListeners;
    for (const listener of listeners) listener(message);
    return true;
  }

  deliverAll(): void {
    while (this.deliver('toHost') || this.deliver('toWebview'));
  }

  private deliverLater(): void {
    if (!this.isHeld)
      setImmediate(() => {
        if (!this.isHeld) this.deliverAll();
      });
  }
}

interface Parts {
  readonly pipe: Pipe;
  readonly host: PanelHost<Contract>;
  readonly client: PanelClient<Contract>;
  /** The waiting requests by name: settle them, or see that they were aborted. */
  readonly waits: Map<string, { resolve(value: string): void; reject(error: Error): void; signal: AbortSignal }>;
  readonly unpostable: string[];
}

function join(options: { credits?: number; host?: Partial<PanelHostOptions<Contract>> } = {}): Parts {
  const pipe = new Pipe();
  const waits: Parts['waits'] = new Map();
  const unpostable: string[] = [];
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  const bad: Readonly<Record<string, unknown>> = {
    bigint: 1n,
    function: { run: () => 1 },
    map: new Map(),
    buffer: Buffer.from('x'),
    date: [new Date(0)],
    large: 'x'.repeat(2 * 1024 * 1024),
    cycle,
  };
  const handlers: RequestHandlers<Contract> = {
    echo: (params) => params,
    wait: ({ name }, signal) =>
      new Promise((resolve, reject) => {
        waits.set(name, { resolve, reject, signal });
      }),
    fail: () => Promise.reject(new Error('secret payload')),
    throwNow: () => {
      throw new Error('secret payload');
    },
    bad: ({ what }) => bad[what],
  };
  const host = new PanelHost<Contract>({
    transport: pipe.host,
    handlers,
    describeError: (): ErrorData => ({ reason: 'described', message: 'It failed.', retriable: true }),
    onUnpostable: (name, why) => unpostable.push(`${name}: ${why}`),
    ...options.host,
  });
  const client = new PanelClient<Contract>(pipe.webview, { credits: options.credits ?? 3, firstGeneration: 1 });
  return { pipe, host, client, waits, unpostable };
}

async function rejection(promise: Promise<unknown>): Promise<ErrorData> {
  try {
    await promise;
  } catch (error) {
    assert.ok(error instanceof RequestError, String(error));
    return error.data;
  }
  return assert.fail('the request was answered');
}

const responses = (pipe: Pipe): Message[] => pipe.sentByHost.filter(({ kind }) => kind === 'response');

describe('the panel envelope', () => {
  it('answers a request with its result', async () => {
    const { client } = join();
    client.start();
    assert.deepEqual(await client.request('echo', { a: [1, 'x', null, new Uint8Array([1, 2])] }), {
      a: [1, 'x', null, new Uint8Array([1, 2])],
    });
  });

  it('answers a handler that rejects or throws at once with the described error, never with its text', async () => {
    const { client } = join();
    client.start();
    for (const method of ['fail', 'throwNow'] as const) {
      const data = await rejection(client.request(method, null));
      assert.deepEqual(data, { reason: 'described', message: 'It failed.', retriable: true });
    }
  });

  it('answers a request that it does not know, also one named like a method of every object', async () => {
    const { client } = join();
    client.start();
    for (const method of ['nothing', 'toString', '__proto__', 'constructor']) {
      const data = await rejection(client.request(method as 'echo', null));
      assert.equal(data.reason, 'unknown-request');
    }
  });

  for (const what of ['bigint', 'function', 'map', 'buffer', 'date', 'large', 'cycle']) {
    it(`answers with an error when the result holds what cannot be posted: ${what}`, async () => {
      const { client, unpostable } = join();
      client.start();
      assert.equal((await rejection(client.request('bad', { what }))).reason, 'unpostable');
      assert.equal(unpostable.length, 1);
    });
  }

  it('leaves out an event that cannot be posted and tells the host, spending no credit', async () => {
    const { client, host, unpostable } = join({ credits: 1 });
    const ticks: number[] = [];
    client.on('tick', (tick) => ticks.push(tick));
    client.start();
    await client.request('echo', 1);
    host.post('odd', { run: () => 1 });
    host.post('tick', 7);
    await eventually(() => ticks.length === 1);
    assert.deepEqual(ticks, [7]);
    assert.equal(unpostable.length, 1);
  });

  it('aborts a running handler when the webview cancels, and still answers once', async () => {
    const { client, waits, pipe } = join();
    client.start();
    const abort = new AbortController();
    const answer = rejection(client.request('wait', { name: 'a' }, abort.signal));
    await eventually(() => waits.has('a'));
    abort.abort();
    assert.equal((await answer).reason, 'cancelled');
    await eventually(() => responses(pipe).length === 1);
    assert.equal(waits.get('a')?.signal.aborted, true);
    waits.get('a')?.resolve('late');
    await client.request('echo', 1);
    assert.deepEqual(
      responses(pipe).map(({ id }) => id),
      [1, 2],
    );
  });

  it('ignores a cancel that comes after the answer', async () => {
    const { client, pipe } = join();
    client.start();
    const abort = new AbortController();
    assert.equal(await client.request('echo', 5, abort.signal), 5);
    abort.abort();
    pipe.forge('toHost', { kind: 'cancel', generation: 1, id: 1 });
    assert.equal(await client.request('echo', 6), 6);
    assert.equal(responses(pipe).length, 2);
  });

  it('asks nothing for a signal that is aborted already', async () => {
    const { client, pipe } = join();
    client.start();
    const data = await rejection(client.request('echo', 1, AbortSignal.abort()));
    assert.equal(data.reason, 'cancelled');
    assert.equal(pipe.toHost.filter(({ kind }) => kind === 'request').length, 0);
  });

  it('sends only as many events as there are credits, gives each back, and counts what it drops', async () => {
    const { client, host, pipe } = join({ credits: 2, host: { maxWaitingEvents: 3 } });
    const seen: (readonly [number, number])[] = [];
    client.on('tick', (tick, dropped) => seen.push([tick, dropped]));
    client.start();
    await client.request('echo', 1);
    pipe.isHeld = true;
    for (let tick = 1; tick <= 10; tick += 1) host.post('tick', tick);
    assert.equal(pipe.toWebview.length, 2, 'no more than the credits are under way');
    pipe.isHeld = false;
    pipe.deliverAll();
    await eventually(() => seen.length === 5);
    assert.deepEqual(seen, [
      [1, 0],
      [2, 0],
      [8, 5],
      [9, 0],
      [10, 0],
    ]);
  });

  it('gives the credit of an event back when its listener throws', async () => {
    const { client, host, pipe } = join({ credits: 1 });
    const seen: number[] = [];
    client.on('tick', (tick) => {
      seen.push(tick);
      if (tick === 1) throw new Error('listener');
    });
    client.start();
    await client.request('echo', 1);
    pipe.isHeld = true;
    host.post('tick', 1);
    host.post('tick', 2);
    assert.throws(() => pipe.deliver('toWebview'), /listener/);
    pipe.isHeld = false;
    pipe.deliverAll();
    await eventually(() => seen.length === 2);
    assert.deepEqual(seen, [1, 2]);
  });

  it('starts anew: old requests are rejected and aborted, and their answers are ignored on both sides', async () => {
    const { client, waits, pipe } = join();
    client.start();
    const old = rejection(client.request('wait', { name: 'old' }));
    await eventually(() => waits.has('old'));
    client.restart();
    assert.equal((await old).reason, 'cancelled');
    assert.equal(await client.request('echo', 'new'), 'new');
    assert.equal(waits.get('old')?.signal.aborted, true);
    waits.get('old')?.resolve('too late');
    pipe.forge('toHost', { kind: 'request', generation: 1, id: 99, method: 'echo', params: 1 });
    pipe.forge('toWebview', { kind: 'response', generation: 1, id: 2, ok: true, result: 'forged' });
    assert.equal(await client.request('echo', 'after'), 'after');
    assert.ok(
      responses(pipe).every(({ id, generation }) => id !== 99 && generation === 2),
      'nothing answers the old generation',
    );
  });

  it('calls onHello for each generation and forgets the events of the one before', async () => {
    let hellos = 0;
    const { client, host } = join({ credits: 1, host: { onHello: () => (hellos += 1) } });
    const seen: number[] = [];
    client.on('tick', (tick) => seen.push(tick));
    host.post('tick', 1);
    client.start();
    await client.request('echo', 1);
    client.restart();
    await client.request('echo', 1);
    host.post('tick', 2);
    await eventually(() => seen.length === 1);
    assert.deepEqual([hellos, seen], [2, [2]]);
  });

  it('ignores an event of another generation and gives no credit for it', async () => {
    const { client, host, pipe } = join({ credits: 1 });
    const seen: number[] = [];
    client.on('tick', (tick) => seen.push(tick));
    client.start();
    client.restart();
    await client.request('echo', 1);
    pipe.isHeld = true;
    for (const generation of [1, 3]) {
      pipe.forge('toWebview', { kind: 'event', generation, name: 'tick', payload: generation, dropped: 0 });
    }
    pipe.deliver('toWebview');
    pipe.deliver('toWebview');
    assert.deepEqual([seen, pipe.toHost], [[], []]);
    pipe.isHeld = false;
    host.post('tick', 2);
    await eventually(() => seen.length === 1);
    assert.deepEqual(seen, [2]);
  });

  it('answers a repeated id once and takes it again afterwards', async () => {
    const { client, pipe, waits } = join();
    client.start();
    const answer = client.request('wait', { name: 'a' });
    pipe.forge('toHost', { kind: 'request', generation: 1, id: 1, method: 'echo', params: 1 });
    await eventually(() => waits.has('a') && pipe.toHost.length === 0);
    waits.get('a')?.resolve('done');
    assert.equal(await answer, 'done');
    assert.equal(responses(pipe).length, 1);
  });

  it('rejects what is asked after dispose, and the host then answers nothing more', async () => {
    const { client, host, pipe, waits } = join();
    client.start();
    const open = rejection(client.request('wait', { name: 'a' }));
    await eventually(() => waits.has('a'));
    client.dispose();
    assert.equal((await open).reason, 'cancelled');
    assert.equal((await rejection(client.request('echo', 1))).reason, 'cancelled');
    host.dispose();
    assert.equal(waits.get('a')?.signal.aborted, true);
    assert.equal(responses(pipe).length, 0);
  });

  it('rejects a request whose parameters cannot be posted', async () => {
    const { client } = join();
    client.start();
    await assert.rejects(
      client.request('echo', () => 1),
      /could not be cloned/,
    );
    assert.equal(await client.request('echo', 1), 1);
  });

  it('ignores messages of any other shape on both sides', async () => {
    const { client, pipe } = join();
    client.start();
    await client.request('echo', 1);
    await fc.assert(
      fc.asyncProperty(garbage(), async (message) => {
        const before = responses(pipe).length;
        pipe.forge('toHost', message);
        pipe.forge('toWebview', message);
        assert.equal(await client.request('echo', 'still'), 'still');
        const answers = responses(pipe).slice(before);
        assert.equal(answers.filter(({ result }) => result === 'still').length, 1);
      }),
      { numRuns: 200 },
    );
  });

  it('answers every request exactly once, whatever the order of delivery, cancels, settling and restarts', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step(), { minLength: 1, maxLength: 40 }), async (steps) => {
        await runSteps(steps);
      }),
      { numRuns: 150 },
    );
  });
});

type Step =
  | { readonly kind: 'ask' | 'cancel' | 'settle' | 'fail'; readonly index: number }
  | { readonly kind: 'deliver'; readonly direction: 'toHost' | 'toWebview' }
  | { readonly kind: 'restart' | 'post' };

function step(): fc.Arbitrary<Step> {
  return fc.oneof(
    fc.record({ kind: fc.constantFrom('ask', 'cancel', 'settle', 'fail'), index: fc.nat({ max: 9 }) }),
    fc.record({ kind: fc.constant('deliver'), direction: fc.constantFrom('toHost', 'toWebview') }),
    fc.record({ kind: fc.constantFrom('restart', 'post') }),
  );
}

function garbage(): fc.Arbitrary<unknown> {
  const shaped = fc.record(
    {
      kind: fc.constantFrom('request', 'response', 'cancel', 'credit', 'event', 'nothing'),
      generation: fc.constantFrom(1, -1, Number.NaN, '1', null, 1.5),
      id: fc.constantFrom('1', null, Number.NaN, {}, -7),
      method: fc.constantFrom(5, null, {}),
      credits: fc.constantFrom(-1, Number.NaN, Infinity, '9', null),
      ok: fc.constantFrom('yes', 1, null, false),
      error: fc.constantFrom(null, 'x', {}, { reason: 1 }),
    },
    { requiredKeys: ['kind'] },
  );
  return fc.oneof(shaped, fc.constantFrom<unknown>(null, undefined, 1, 'x', true, [], [[]]));
}

/** Plays the steps with the pipe held, then lets everything through and checks that nothing is left open. */
async function runSteps(steps: readonly Step[]): Promise<void> {
  const { pipe, host, client, waits } = join({ credits: 2 });
  pipe.isHeld = true;
  const outcomes = new Map<string, string>();
  const aborts = new Map<number, AbortController>();
  let asked = 0;
  let ticks = 0;
  client.on('tick', () => {
    ticks += 1;
  });
  client.start();
  const settle = (fails: boolean): void => {
    const [name, wait] = [...waits].at(0) ?? [];
    if (name === undefined || !wait) return;
    waits.delete(name);
    if (fails) wait.reject(new Error('late'));
    else wait.resolve(name);
  };
  for (const each of steps) {
    if (each.kind === 'ask') {
      const name = `r${asked}`;
      const abort = new AbortController();
      aborts.set(asked, abort);
      asked += 1;
      client.request('wait', { name }, abort.signal).then(
        (value) => {
          assert.equal(outcomes.has(name), false);
          assert.equal(value, name, 'an answer goes to its own question');
          outcomes.set(name, 'answered');
        },
        (error: unknown) => outcomes.set(name, error instanceof RequestError ? error.data.reason : String(error)),
      );
    } else if (each.kind === 'cancel') aborts.get(each.index)?.abort();
    else if (each.kind === 'settle') settle(false);
    else if (each.kind === 'fail') settle(true);
    else if (each.kind === 'deliver') pipe.deliver(each.direction);
    else if (each.kind === 'restart') client.restart();
    else host.post('tick', 1);
    await Promise.resolve();
  }
  pipe.isHeld = false;
  await eventually(() => {
    pipe.deliverAll();
    while (waits.size > 0) settle(false);
    return outcomes.size === asked;
  });
  for (const outcome of outcomes.values()) assert.ok(['answered', 'cancelled', 'described'].includes(outcome), outcome);
  const ids = responses(pipe).map(({ generation, id }) => `${generation}/${id ?? ''}`);
  assert.equal(new Set(ids).size, ids.length, 'no request is answered twice');
  assert.ok(ticks <= steps.length);
  client.dispose();
  host.dispose();
}
