// Simulated processes that consume one stream in virtual time, and what must always be true of them (bus.md, I1 to I12).
import assert from 'node:assert/strict';
import { Reject } from '../../../src/bus';
import type { Bus, Consumer, HandlerContext, Message } from '../../../src/bus';
import { readJournalEntry } from '../../../src/bus/history/readJournalEntry';
import { streamKey } from '../../../src/bus/ids';
import { exponential } from '../../../src/bus/consume/backoff';
import { createMemoryBus } from '../../../src/embedded';
import { VirtualClock } from '../../../src/embedded';
import type { EmbeddedProcess, Loss, MemoryBus } from '../../../src/embedded';
import { EntryReply, formatFields, MapReply } from '../../../src/embedded/reply';
import type { Reply } from '../../../src/embedded/reply';
import { formatId } from '../../../src/embedded/data/streamId';
import { EngineClient } from './engineClient';

/** How a message is handled: by what its handler does at its first deliveries, then it succeeds. */
export type Plan = 'succeed' | 'fail once' | 'fail always' | 'reject' | 'hang once' | 'hang always' | 'slow';

const stream = 'jobs';
const group = 'workers';
const options = { concurrency: 2, prefetch: 2, blockMs: 1000, handlerTimeoutMs: 2000, abortGraceMs: 500 };
const maxDeliveries = 3;
const minIdleMs = 3000;
const retryDelayMs = 1000;

interface Run {
  readonly process: string;
  readonly atMs: number;
}

interface Life {
  readonly process: EmbeddedProcess;
  readonly bus: Bus;
  readonly consumer: Consumer;
  readonly running: Set<string>;
  isAlive: boolean;
  isClosing: boolean;
}

/** The world of one sequence. */
export class ConsumeWorld {
  readonly memory: MemoryBus = createMemoryBus();
  private readonly client = new EngineClient(this.memory.server.engine);
  private readonly lives: Life[] = [];
  private readonly plans = new Map<string, Plan>();
  private readonly runs = new Map<string, Run[]>();
  private readonly succeeded = new Set<string>();
  private readonly failures = new Map<string, { readonly atMs: number; readonly life: Life }>();
  private readonly releases = new Map<string, number>();
  private readonly trimmed = new Set<string>();
  private readonly problems: string[] = [];
  private readonly heals: (() => void)[] = [];
  private wasPartitioned = false;

  async publish(plan: Plan): Promise<void> {
    const { id } = await this.memory.bus.publish(stream, { body: { plan } });
    this.plans.set(id, plan);
  }

  async start(name: string): Promise<void> {
    if (this.lives.some(({ process, isAlive }) => isAlive && process.name === name)) return;
    const process = this.memory.server.process(name);
    const bus = this.memory.open(name);
    const running = new Set<string>();
    const consumer = bus.consume(
      stream,
      {
        ...options,
        group,
        name,
        ownership: { minIdleMs, heartbeatMs: 1000 },
        retry: { maxDeliveries, backoff: exponential({ baseMs: retryDelayMs, maxMs: retryDelayMs, jitter: 0 }) },
        reclaim: { intervalMs: 500, count: 10 },
        // With and without a journal everything that must be true is the same.
        journal: name !== 'p1',
      },
      (message, context) => this.handle(life, message, context),
    );
    const life: Life = { process, bus, consumer, running, isAlive: true, isClosing: false };
    consumer.on('released', ({ ids }) => {
      for (const id of ids) this.releases.set(id, (this.releases.get(id) ?? 0) + 1);
    });
    consumer.on('fatal', ({ error }) => this.problems.push(`${name} stopped for good: ${String(error)}`));
    this.lives.push(life);
    consumer.start().catch(() => undefined);
    await this.advance(0);
  }

  async crash(name: string): Promise<void> {
    const life = this.aliveLife(name);
    this.memory.crash(name);
    if (life) {
      life.isAlive = false;
      life.running.clear();
    }
    await this.advance(0);
  }

  async close(name: string): Promise<void> {
    const life = this.aliveLife(name);
    if (!life || life.isClosing) return;
    life.isClosing = true;
    const { clock } = this.memory.server;
    const startMs = clock.now();
    const closed = life.bus.close({ timeoutMs: 3000 }).then(
      () => {
        life.isAlive = false;
        const tookMs = clock.now() - startMs;
        if (!this.wasPartitioned && tookMs > 3000 + options.abortGraceMs + 1000)
          this.problems.push(`closing ${name} took ${tookMs} ms`);
      },
      (error: unknown) => this.problems.push(`closing ${name} failed: ${String(error)}`),
    );
    void closed;
    await this.advance(0);
  }

  async partition(name: string, loss: Loss): Promise<void> {
    this.wasPartitioned = true;
    this.heals.push(this.memory.partition(name, loss));
    await this.advance(0);
  }

  async heal(): Promise<void> {
    for (const heal of this.heals.splice(0)) heal();
    await this.advance(0);
  }

  /** XTRIM: takes entries away, whoever needs them. */
  trim(maxLength: number): void {
    const before = this.entryIds();
    this.client.send('XTRIM', stream, 'MAXLEN', String(maxLength));
    const after = new Set(this.entryIds());
    for (const id of before) if (!after.has(id)) this.trimmed.add(id);
  }

  /** The bus's own trim, which may take nothing away that is needed. */
  async trimSafely(maxLength: number): Promise<void> {
    const trimming = this.memory.bus.trim(stream, { maxLength });
    await this.advance(0);
    await trimming;
  }

  async advance(ms: number): Promise<void> {
    await this.memory.advance(ms);
    this.check();
  }

  /** Lets everything come to rest, and checks what must be true then. */
  async finish(): Promise<void> {
    await this.heal();
    await this.start('last');
    await this.advance(240_000);
    assert.deepEqual(this.pendingIds(), [], 'entries are still pending');
    const dead = await this.deadLetters();
    for (const [id, plan] of this.plans) {
      if (this.trimmed.has(id)) continue;
      const copies = dead.filter((one) => one.entry === id);
      assert.ok(copies.length <= 1, `${id} (${plan}) is among the dead letters ${copies.length} times`);
      assert.ok(this.succeeded.has(id) || copies.length === 1, `${id} (${plan}) is neither handled nor a dead letter`);
      if (plan === 'reject' || plan === 'fail always' || plan === 'hang always')
        assert.equal(copies.length, 1, `${id} (${plan}) is no dead letter`);
      for (const { fields } of copies) assert.deepEqual(fields, ['plan', plan], `the fields of ${id} changed`);
    }
    await this.checkJournal();
    for (const { process, isAlive } of [...this.lives]) if (isAlive) await this.close(process.name);
    await this.advance(20_000);
    await this.memory.bus.close();
    assert.deepEqual(
      this.lives.filter(({ isAlive }) => isAlive).map(({ process }) => process.name),
      [],
      'not all closed',
    );
    assert.equal(this.memory.server.engine.blocking.count, 0, 'a read is still blocked');
    const { clock } = this.memory.server;
    assert.ok(clock instanceof VirtualClock);
    if (this.lives.every(({ isClosing }) => isClosing)) assert.equal(clock.waiting, 0, 'timers are left');
    this.check();
  }

  private async handle(life: Life, message: Message, context: HandlerContext): Promise<void> {
    const { id } = message;
    const { clock, name } = life.process;
    const before = this.runs.get(id) ?? [];
    this.runs.set(id, [...before, { process: name, atMs: clock.now() }]);
    if (life.running.has(id)) this.problems.push(`${id} runs twice at once in ${name}`);
    life.running.add(id);
    const elsewhere = this.lives.filter((other) => other !== life && other.isAlive && other.running.has(id));
    if (elsewhere.length > 0 && !this.wasPartitioned)
      this.problems.push(`${id} runs in ${name} and ${elsewhere.map(({ process }) => process.name).join()} at once`);
    if (life.running.size > options.concurrency) this.problems.push(`${life.running.size} handlers run in ${name}`);
    const failure = this.failures.get(id);
    // A new life of the same name takes up at once what the former one owned, scheduled or not.
    const isReborn = failure !== undefined && failure.life !== life && failure.life.process.name === name;
    if (failure && !isReborn && !this.wasPartitioned && clock.now() < failure.atMs + retryDelayMs)
      this.problems.push(`${id} was retried after ${clock.now() - failure.atMs} ms`);
    try {
      await this.act(String(message.fields.plan), before.length, context, life);
      this.succeeded.add(id);
    } catch (error) {
      if (!context.signal.aborted) this.failures.set(id, { atMs: clock.now(), life });
      throw error;
    } finally {
      life.running.delete(id);
    }
  }

  private async act(plan: string, earlierRuns: number, { signal }: HandlerContext, life: Life): Promise<void> {
    const isFirst = earlierRuns === 0;
    const { clock } = life.process;
    if (plan === 'reject') throw new Reject('not wanted');
    if (plan === 'fail always' || (plan === 'fail once' && isFirst)) throw new Error('failed');
    if (plan === 'slow') await new Promise<void>((resolve) => clock.after(1500, resolve));
    if (plan === 'hang always' || (plan === 'hang once' && isFirst)) {
      await new Promise((_, reject) => {
        signal.addEventListener('abort', () => {
          reject(new Error('aborted'));
        });
      });
    }
  }

  /** What must be true at every moment. */
  private check(): void {
    assert.deepEqual(this.problems, []);
    for (const { consumer, isAlive, process } of this.lives) {
      if (!isAlive) continue;
      const { queued, inFlight } = consumer.health();
      const bound = options.concurrency + options.prefetch;
      assert.ok(queued + inFlight <= bound, `${process.name} holds ${queued + inFlight} entries`);
    }
    for (const [id, runs] of this.runs) {
      const allowed = maxDeliveries + (this.releases.get(id) ?? 0);
      if (!this.wasPartitioned) assert.ok(runs.length <= allowed, `${id} was handled ${runs.length} times`);
    }
    const pending = new Set(this.pendingIds());
    const dead = new Set(this.deadIds());
    for (const id of this.deliveredIds()) {
      const isSettled = !pending.has(id) && !this.trimmed.has(id);
      assert.ok(
        !isSettled || this.succeeded.has(id) || dead.has(id),
        `${id} was acknowledged without having been handled`,
      );
    }
  }

  private aliveLife(name: string): Life | undefined {
    return this.lives.find(({ process, isAlive }) => isAlive && process.name === name);
  }

  /** Everything in the journal can be read, and is about entries that there were. */
  private async checkJournal(): Promise<void> {
    const port = this.memory.server.process('reader').openPort();
    const query = { from: 'min', to: 'max', count: 100_000 } as const;
    const reading = port.range(streamKey(`${stream}:journal`), query);
    await this.advance(0);
    const entries = await reading;
    await port.close();
    for (const entry of entries) {
      const events = readJournalEntry(entry) ?? assert.fail(`a journal entry cannot be read: ${entry.fields.join()}`);
      for (const { id } of events) assert.ok(this.plans.has(id), `${id} is in the journal and was never published`);
    }
  }

  private entryIds(): string[] {
    return this.rows('XRANGE', stream, '-', '+').map((row) => idOf(row));
  }

  private pendingIds(): string[] {
    const reply = this.client.send('XPENDING', stream, group, '-', '+', '10000');
    return Array.isArray(reply) ? (reply as readonly Reply[]).map((row) => idOf(row)) : [];
  }

  private deliveredIds(): string[] {
    const groups = this.client.send('XINFO', 'GROUPS', stream);
    if (!Array.isArray(groups)) return [];
    const [row] = groups as readonly Reply[];
    const last = row instanceof MapReply ? row.pairs[7] : undefined;
    return typeof last === 'string' ? this.rows('XRANGE', stream, '-', last).map((one) => idOf(one)) : [];
  }

  private deadIds(): string[] {
    return this.deadFields().flatMap((fields) => {
      const at = fields.lastIndexOf('dl.entry');
      return fields[at + 1] ?? [];
    });
  }

  private async deadLetters(): Promise<{ readonly entry: string; readonly fields: readonly string[] }[]> {
    return Promise.resolve(
      this.deadFields().map((fields) => ({
        entry: fields[fields.lastIndexOf('dl.entry') + 1] ?? '',
        fields: fields.slice(0, -22),
      })),
    );
  }

  private deadFields(): string[][] {
    return this.rows('XRANGE', `{${stream}}:dlq`, '-', '+')
      .concat(this.rows('XRANGE', `${stream}:dlq`, '-', '+'))
      .map((row) => (row instanceof EntryReply ? formatFields(row.fields) : []));
  }

  private rows(...command: string[]): readonly Reply[] {
    const reply = this.client.send(...command);
    return Array.isArray(reply) ? (reply as readonly Reply[]) : [];
  }
}

function idOf(row: Reply): string {
  if (row instanceof EntryReply) return formatId(row.id);
  const [id] = Array.isArray(row) ? (row as readonly Reply[]) : [];
  return typeof id === 'string' ? id : assert.fail('a row without an id');
}
