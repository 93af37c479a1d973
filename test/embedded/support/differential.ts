// Runs the same steps on two servers and compares every reply and the whole state after every step.
import assert from 'node:assert/strict';
import { fuzzGroups, fuzzKeys } from './commandArbitrary';
import type { Step } from './commandArbitrary';
import type { Wire } from './wireClient';
import { WireClient } from './wireClient';

/** Times on the two servers may differ by what a slow machine needs for a sequence. */
const toleranceMs = 45_000;

/** Two servers that must not be told apart. */
export class ServerPair {
  private constructor(
    private readonly left: readonly WireClient[],
    private readonly right: readonly WireClient[],
    private readonly protocol: 2 | 3,
    private readonly normalise: (reply: Wire, command: readonly string[]) => Wire,
  ) {}

  /** `normalise` makes equal what the servers may answer differently, besides times. */
  static async open(
    leftPort: number,
    rightPort: number,
    protocol: 2 | 3,
    normalise: (reply: Wire, command: readonly string[]) => Wire = (reply) => reply,
  ): Promise<ServerPair> {
    const open = (port: number): Promise<WireClient[]> => Promise.all([0, 1, 2, 3].map(() => WireClient.open(port)));
    return new ServerPair(await open(leftPort), await open(rightPort), protocol, normalise);
  }

  close(): void {
    for (const client of [...this.left, ...this.right]) client.close();
  }

  /** Runs the steps from an empty server; rejects at the first difference, which its message shows. */
  async run(steps: readonly Step[]): Promise<void> {
    await this.both((clients) => this.reset(clients));
    const blocked = new Map<number, { readonly left: Promise<Wire>; readonly right: Promise<Wire> }>();
    for (const [index, step] of steps.entries()) {
      if (blocked.has(step.client)) continue;
      if (step.client !== 0) {
        const [left, right] = await this.both((clients) => this.start(clients, step));
        blocked.set(step.client, { left: left.reply, right: right.reply });
        await this.compareBlocked(blocked, steps, index);
      } else {
        const [left, right] = await this.both((clients) => this.clientOf(clients, 0).send(...step.command));
        this.compare(left, right, step.command, steps, index);
        await this.compareBlocked(blocked, steps, index);
      }
      await this.compareState(steps, index);
    }
    await this.both((clients) => this.release(clients));
    await Promise.all([...blocked.values()].flatMap(({ left, right }) => [left, right]));
  }

  /** Those who are blocked on one server must be blocked on the other; who is served must have got the same. */
  private async compareBlocked(
    blocked: Map<number, { readonly left: Promise<Wire>; readonly right: Promise<Wire> }>,
    steps: readonly Step[],
    index: number,
  ): Promise<void> {
    if (blocked.size === 0) return;
    const [left, right] = await this.both((clients) => this.blockedClients(clients));
    assert.deepEqual(left, right, `who is blocked differs after ${describeSteps(steps, index)}`);
    for (const [client, replies] of [...blocked]) {
      if (left.includes(client)) continue;
      blocked.delete(client);
      this.compare(await replies.left, await replies.right, steps[index]?.command ?? [], steps, index);
    }
  }

  /** Sends a read that may block, and resolves when it has been answered or is blocked. */
  private async start(
    clients: readonly WireClient[],
    { client, command }: Step,
  ): Promise<{ readonly reply: Promise<Wire> }> {
    const reply = this.clientOf(clients, client).send(...command);
    const outcome = { isAnswered: false };
    void reply.then(() => {
      outcome.isAnswered = true;
    });
    while (!outcome.isAnswered && !(await this.blockedClients(clients)).includes(client));
    return { reply };
  }

  /** Which of the clients 1 and 2 wait. */
  private async blockedClients(clients: readonly WireClient[]): Promise<number[]> {
    const list = await this.clientOf(clients, 3).send('CLIENT', 'LIST');
    const text = textOf(list);
    return [1, 2].filter((client) => new RegExp(` name=fuzz${client} .* flags=b `).test(text));
  }

  private async reset(clients: readonly WireClient[]): Promise<void> {
    await this.release(clients);
    for (const [index, client] of clients.entries()) {
      await client.sendAll([['RESET'], ['HELLO', String(this.protocol)], ['CLIENT', 'SETNAME', `fuzz${index}`]]);
    }
    await this.clientOf(clients, 3).send('FLUSHALL');
  }

  private async release(clients: readonly WireClient[]): Promise<void> {
    const observer = this.clientOf(clients, 3);
    const list = await observer.send('CLIENT', 'LIST');
    const text = textOf(list);
    for (const [, id] of text.matchAll(/id=(\d+) .* flags=b /g)) await observer.send('CLIENT', 'UNBLOCK', id ?? '');
  }

  private async compareState(steps: readonly Step[], index: number): Promise<void> {
    const questions = stateQuestions;
    const [left, right] = await this.both((clients) => this.clientOf(clients, 3).sendAll(questions));
    for (const [at, question] of questions.entries())
      this.compare(left[at] ?? null, right[at] ?? null, question, steps, index);
  }

  private compare(left: Wire, right: Wire, command: readonly string[], steps: readonly Step[], index: number): void {
    const [one, other] = [this.normalise(left, command), this.normalise(right, command)];
    const difference = differenceOf(mask(command, one), mask(command, other), 'reply');
    if (difference === undefined) return;
    throw new Error(
      `${difference}\nof ${JSON.stringify(command.join(' '))}\nafter ${describeSteps(steps, index)}\n` +
        `left  ${JSON.stringify(left)}\nright ${JSON.stringify(right)}`,
    );
  }

  private clientOf(clients: readonly WireClient[], index: number): WireClient {
    return clients[index] ?? assert.fail('there are four clients');
  }

  private both<T>(act: (clients: readonly WireClient[]) => Promise<T>): Promise<[T, T]> {
    return Promise.all([act(this.left), act(this.right)]);
  }
}

function textOf(reply: Wire): string {
  if (typeof reply === 'string') return reply;
  return reply !== null && 'verbatim' in reply ? reply.verbatim : '';
}

const stateQuestions: readonly (readonly string[])[] = [
  ...fuzzKeys.flatMap((key) => [
    ['TYPE', key],
    ['TTL', key],
    ['XINFO', 'STREAM', key, 'FULL', 'COUNT', '0'],
    ['XRANGE', key, '-', '+'],
    ...fuzzGroups.flatMap((group) => [
      ['XPENDING', key, group],
      ['XPENDING', key, group, '-', '+', '1000'],
      ['XINFO', 'CONSUMERS', key, group],
    ]),
    ['XINFO', 'GROUPS', key],
  ]),
  ['XINFO', 'STREAM', 's1'],
  ['GET', 'text'],
  ['DBSIZE'],
];

function describeSteps(steps: readonly Step[], last: number): string {
  return steps
    .slice(0, last + 1)
    .map(({ client, command }) => `\n  ${client}: ${command.map((word) => JSON.stringify(word)).join(' ')}`)
    .join('');
}

/** A time that may differ a little between the servers. */
interface About {
  readonly about: number;
}

type Masked = Wire | About | readonly Masked[] | { readonly pairs: readonly Masked[] };

const aboutNames = new Set(['idle', 'seen-time']);

/** Marks the times of a reply, by the command that it answers. */
function mask(command: readonly string[], reply: Wire): Masked {
  const name = (command[0] ?? '').toUpperCase();
  if (name === 'XPENDING') return maskRows(reply, 4, 2);
  if (name === 'XINFO') return maskByName(reply);
  if (name === 'TTL') return about(reply);
  if (name === 'EXEC' && Array.isArray(reply)) return (reply as Wire[]).map((one) => maskUnknown(one));
  return reply;
}

function maskUnknown(reply: Wire): Masked {
  const rows = maskRows(reply, 4, 2);
  return rows === reply ? maskByName(reply) : rows;
}

/** Rows of a given length have a time at a given place. */
function maskRows(reply: Wire, length: number, place: number): Masked {
  const rows = listOf(reply);
  if (!rows?.some((row) => listOf(row)?.length === length)) return reply;
  return rows.map((row): Masked => {
    const cells = listOf(row);
    return cells?.length === length ? cells.map((cell, at): Masked => (at === place ? about(cell) : cell)) : row;
  });
}

function listOf(reply: Wire): readonly Wire[] | undefined {
  return Array.isArray(reply) ? (reply as readonly Wire[]) : undefined;
}

function maskByName(reply: Wire): Masked {
  if (reply === null || typeof reply === 'string') return reply;
  if ('pairs' in reply) return { pairs: maskPairs(reply.pairs) };
  if (!Array.isArray(reply)) return reply;
  return maskPairs(reply as readonly Wire[]);
}

function maskPairs(cells: readonly Wire[]): Masked[] {
  return cells.map((cell, at) => {
    const name = at > 0 ? cells[at - 1] : undefined;
    if (typeof name === 'string' && aboutNames.has(name)) return about(cell);
    if (name === 'pending' && Array.isArray(cell)) {
      const rows = cell as readonly Wire[];
      const width = Array.isArray(rows[0]) ? (rows[0] as readonly Wire[]).length : 0;
      return maskRows(cell, width, width - 2);
    }
    return maskByName(cell);
  });
}

function about(reply: Wire): Masked {
  return reply !== null && typeof reply === 'object' && 'integer' in reply ? { about: Number(reply.integer) } : reply;
}

/** Where two replies differ, undefined when they do not. */
function differenceOf(left: Masked, right: Masked, path: string): string | undefined {
  if (isList(left) && isList(right)) return listDifference(left, right, path);
  if (isObject(left) && isObject(right)) {
    if ('about' in left && 'about' in right)
      return Math.abs(left.about - right.about) <= toleranceMs
        ? undefined
        : `${path}: ${left.about} is not about ${right.about}`;
    if ('pairs' in left && 'pairs' in right) return listDifference(left.pairs, right.pairs, path);
  }
  return JSON.stringify(left) === JSON.stringify(right)
    ? undefined
    : `${path}: ${JSON.stringify(left)} differs from ${JSON.stringify(right)}`;
}

function listDifference(left: readonly Masked[], right: readonly Masked[], path: string): string | undefined {
  if (left.length !== right.length) return `${path}: ${left.length} elements, not ${right.length}`;
  for (const [at, one] of left.entries()) {
    const difference = differenceOf(one, right[at] ?? null, `${path}[${at}]`);
    if (difference !== undefined) return difference;
  }
  return undefined;
}

function isList(value: Masked): value is readonly Masked[] {
  return Array.isArray(value);
}

function isObject(value: Masked): value is Exclude<Masked, string | null | readonly Masked[]> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
