// A stream that exists only as answers of the panel's host: any length, real paging, and gates that hold answers back.
// Tested by the tests that use it.
import type { RequestHandlers } from '../../../src/panels/panelHost';
import type {
  EntriesPage,
  EntriesQuery,
  EntryDetail,
  EntryRow,
  PanelSession,
  StreamOverview,
  StreamPanelContract,
} from '../../../src/protocol/streamPanel';

const newestMs = Date.UTC(2026, 10, 29, 16, 7, 33, 120);

/** A name whose text is plain. */
export const nameView = (text: string): { text: string; display: string } => ({ text, display: text });

/** What a stream starts with; each part can be changed while the panel is open. */
export interface SampleOptions {
  readonly length?: number;
  readonly overview?: Partial<StreamOverview>;
  readonly session?: Partial<PanelSession>;
  readonly detail?: (id: string) => Partial<EntryDetail>;
  readonly row?: (index: number) => Partial<EntryRow>;
}

/** A stream of `length` entries, 250 ms apart, the newest last; index 0 is the oldest. */
export class SampleStream {
  length: number;
  /** Called before each answer; await something in it to hold the answer back, or throw to refuse. */
  before: (method: string, params: unknown) => Promise<void> | void = () => undefined;
  readonly calls: { readonly method: string; readonly params: unknown }[] = [];
  readonly aborted: string[] = [];

  constructor(private readonly options: SampleOptions = {}) {
    this.length = options.length ?? 1204;
  }

  /** The id of the entry at an index; two entries share each millisecond. */
  idAt(index: number): string {
    return `${newestMs - 250 * Math.floor((this.baseLength - 1 - index) / 2)}-${index % 2}`;
  }

  get newestId(): string {
    return this.idAt(this.length - 1);
  }

  handlers(): RequestHandlers<StreamPanelContract> {
    const answer =
      <P, R>(method: string, make: (params: P) => R) =>
      async (params: P, signal: AbortSignal): Promise<R> => {
        this.calls.push({ method, params });
        signal.addEventListener('abort', () => this.aborted.push(method), { once: true });
        await this.before(method, params);
        return make(params);
      };
    return {
      session: answer('session', () => this.session()),
      overview: answer('overview', () => this.overview()),
      entries: answer('entries', (query: EntriesQuery) => this.page(query)),
      entry: answer('entry', ({ id }: { id: string }) => this.detail(id)),
      openValue: answer('openValue', () => null),
      openDeadLetters: answer('openDeadLetters', () => null),
      openEntry: answer('openEntry', () => null),
      nextStep: answer('nextStep', () => null),
      connect: answer('connect', () => null),
      copy: answer('copy', () => null),
      act: answer('act', () => null),
      selected: answer('selected', () => null),
    };
  }

  callsOf(method: string): readonly unknown[] {
    return this.calls.filter((call) => call.method === method).map(({ params }) => params);
  }

  private get baseLength(): number {
    return this.options.length ?? 1204;
  }

  private session(): PanelSession {
    const identity = { connectionId: 'c1', stream: 'orders' };
    return { translations: {}, locale: 'en-US', selectedId: null, identity, ...this.options.session };
  }

  private overview(): StreamOverview {
    const source = 'XINFO GROUPS of Redis 7.0.15';
    return {
      connection: { name: 'prod-eu', environment: 'production', state: 'connected', isReadOnly: true },
      stream: nameView('orders'),
      length: this.length,
      firstId: this.length === 0 ? null : this.idAt(0),
      lastId: this.length === 0 ? null : this.newestId,
      groups: [
        {
          name: nameView('billing'),
          lag: { kind: 'exact', value: 20, source },
          pending: 7,
          consumers: 3,
          lastDeliveredId: this.idAt(Math.max(0, this.length - 21)),
        },
        {
          name: nameView('shipping'),
          lag: { kind: 'unknown', reason: 'entries were deleted after the last delivered id' },
          pending: 0,
          consumers: 1,
          lastDeliveredId: this.idAt(Math.max(0, this.length - 5)),
        },
        {
          name: nameView('analytics'),
          lag: { kind: 'atLeast', value: 12_001, source: 'counted with XRANGE' },
          pending: 1240,
          consumers: 12,
          lastDeliveredId: '0-0',
        },
      ],
      deadLetters: { stream: nameView('orders:dlq'), length: 38 },
      memoryBytes: { kind: 'exact', value: 412_300, source: 'MEMORY USAGE, an estimate' },
      timeToLiveMs: null,
      serverTimeMs: newestMs + 41_000,
      groupCount: this.options.overview?.groups?.length ?? 3,
      ...this.options.overview,
    };
  }

  private page({ at, count }: EntriesQuery): EntriesPage {
    const [low, high] = this.bounds(at, count);
    const entries: EntryRow[] = [];
    for (let index = high; index >= low; index -= 1) entries.push(this.row(index));
    return { entries, hasOlder: low > 0, hasNewer: high < this.length - 1 };
  }

  private bounds(at: EntriesQuery['at'], count: number): readonly [number, number] {
    const last = this.length - 1;
    if (at.kind === 'newest') return [Math.max(0, last - count + 1), last];
    if (at.kind === 'oldest') return [0, Math.min(last, count - 1)];
    const place = this.firstAtOrAfter(at.id);
    if (at.kind === 'olderThan') return [Math.max(0, place - count), place - 1];
    const after = this.idAt(place) === at.id ? place + 1 : place;
    if (at.kind === 'newerThan') return [after, Math.min(last, after + count - 1)];
    const half = Math.floor(count / 2);
    return [Math.max(0, place - half), Math.min(last, place + half)];
  }

  private firstAtOrAfter(id: string): number {
    let [low, high] = [0, this.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.idAt(middle), id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private row(index: number): EntryRow {
    const id = this.idAt(index);
    const types = ['OrderPlaced', 'OrderPaid', 'OrderShipped', 'OrderCancelled'];
    return {
      id,
      timeMs: Number(id.split('-')[0]),
      fieldCount: 4,
      bytes: 180 + ((index * 37) % 4000),
      preview: [
        { name: 'type', value: types[index % types.length] ?? '' },
        { name: 'order', value: String(48_000 + index) },
        { name: 'payload', value: `{"customer":"c-${index % 97}","total":${(index % 900) + 0.5}}` },
      ],
      ...this.options.row?.(index),
    };
  }

  private detail(id: string): EntryDetail {
    return { ...sampleDetail(id), ...this.options.detail?.(id) };
  }
}

function isBefore(a: string, b: string): boolean {
  const [aMs = '0', aSeq = '0'] = a.split('-');
  const [bMs = '0', bSeq = '0'] = b.split('-');
  return BigInt(aMs) === BigInt(bMs) ? BigInt(aSeq) < BigInt(bSeq) : BigInt(aMs) < BigInt(bMs);
}

const payload = JSON.stringify({
  customer: { id: 'c-17', name: 'Ana Núñez', address: { city: 'Zürich', zip: '8004' } },
  items: [
    { sku: 'BK-2041', quantity: 2, price: 18.5 },
    { sku: 'PN-0007', quantity: 1, price: 3.25 },
  ],
  total: 40.25,
  paid: true,
  coupon: null,
  trace: 9007199254740993,
}).replace('9007199254740992', '9007199254740993');

const pretendHex = `00000000  89 50 4e 47 0d 0a 1a 0a  00 00 00 0d 49 48 44 52  |.PNG........IHDR|
00000010  00 00 00 10 00 00 00 10  08 06 00 00 00 1f f3 ff  |................|
00000020  61 00 00 00 01 73 52 47  42 00 ae ce 1c e9        |a....sRGB.....|`;

/** An entry with every kind of value and of standing. */
export function sampleDetail(id: string): EntryDetail {
  const copy = { stream: 'orders', id: '1764345600000-0' };
  const ms = Number(id.split('-')[0]);
  return {
    id,
    timeMs: ms,
    fieldCount: 4,
    bytes: 1272,
    fields: [
      { name: nameView('type'), value: { kind: 'text', text: 'OrderPlaced', bytes: 11, truncated: false } },
      { name: nameView('order'), value: { kind: 'text', text: '48203', bytes: 5, truncated: false } },
      { name: nameView('payload'), value: { kind: 'json', text: payload, bytes: payload.length, truncated: false } },
      { name: nameView('thumbnail'), value: { kind: 'bytes', text: pretendHex, bytes: 46, truncated: false } },
    ],
    raw: {
      text: `1) 1) "${id}"\n   2) 1) "type"\n      2) "OrderPlaced"\n      3) "order"\n      4) "48203"`,
      truncated: false,
    },
    groupCount: 3,
    standings: [
      {
        group: nameView('billing'),
        state: 'pending',
        consumer: nameView('worker-2'),
        deliveryCount: 3,
        idleMs: 720_000,
        lastDeliveredAtMs: newestMs + 41_000 - 720_000,
        explanation: 'Delivered to worker-2 three times and not acknowledged: it failed, or is being processed.',
      },
      {
        group: nameView('shipping'),
        state: 'passed',
        explanation:
          'Delivered and no longer pending: acknowledged, or read without acknowledgement, or its consumer was deleted.',
      },
      {
        group: nameView('analytics'),
        state: 'undelivered',
        explanation: 'The group has not read this far: its last delivered id is 0-0.',
      },
    ],
    history: [
      { atMs: ms, title: 'Added to the stream', sources: ['server'], outcome: 'neutral' },
      {
        atMs: ms + 200,
        title: 'Delivered',
        sources: ['recorded'],
        group: nameView('billing'),
        consumer: nameView('worker-1'),
        attempt: 3,
        outcome: 'neutral',
        writer: 'host-1, process 4211, version 2.3.0',
      },
      {
        atMs: ms + 1190,
        title: 'Failed',
        sources: ['recorded'],
        group: nameView('billing'),
        consumer: nameView('worker-1'),
        attempt: 3,
        outcome: 'bad',
        tookMs: 990,
        error: {
          type: 'TypeError',
          message: 'Invalid slug "café"',
          stack: 'TypeError: Invalid slug\n    at handle (handler.ts:14:9)',
        },
      },
      {
        atMs: ms + 1200,
        title: 'Dead-lettered: handler-error',
        sources: ['recorded', 'derived'],
        group: nameView('billing'),
        consumer: nameView('worker-1'),
        attempt: 3,
        outcome: 'bad',
      },
      {
        atMs: ms + 2400,
        title: 'Acknowledged',
        sources: ['recorded'],
        group: nameView('shipping'),
        consumer: nameView('shipper-7'),
        attempt: 1,
        outcome: 'good',
        tookMs: 12,
      },
      { atMs: ms + 61_200, title: 'Replayed', sources: ['derived'], entry: copy, outcome: 'neutral' },
      {
        atMs: ms + 62_000,
        title: 'Retry scheduled',
        sources: ['recorded'],
        group: nameView('billing'),
        consumer: nameView('worker-2'),
        attempt: 1,
        delayMs: 5000,
        entry: copy,
        outcome: 'neutral',
      },
      {
        atMs: ms + 3_662_000,
        title: 'Last delivered, still pending',
        sources: ['server'],
        group: nameView('billing'),
        consumer: nameView('worker-2'),
        attempt: 3,
        outcome: 'neutral',
      },
    ],
    historyLimits: {
      journal: 'read',
      recordedSinceMs: ms + 100,
      malformed: 1,
      hidden: 0,
      unknownEndings: [nameView('audit')],
    },
    deadLetter: null,
    commands: [`XRANGE orders ${id} ${id}`, `XPENDING orders billing ${id} ${id} 1`],
    serverTimeMs: newestMs + 41_000,
  };
}
