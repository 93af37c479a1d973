import type { EntryFields } from '../../bus';

/** A kind of event that the sample streams carry. */
export type SampleEventType =
  | 'order.placed'
  | 'order.paid'
  | 'order.cancelled'
  | 'payment.captured'
  | 'user.signed_up'
  | 'user.upgraded'
  | 'reading';

/** Makes the sample's events, the same ones for the same seed. */
export interface SampleEvents {
  /** A number from 0 up to, not including, 1. */
  random(): number;
  order(atMs: number): EntryFields;
  payment(atMs: number, options?: { readonly isPoison: boolean }): EntryFields;
  user(atMs: number): EntryFields;
  reading(atMs: number): EntryFields;
  audit(atMs: number): EntryFields;
}

const customers = [
  'Ada Park',
  'Bruno Keller',
  'Chiara Rossi',
  'Dmitri Volkov',
  'Elif Yılmaz',
  'Femi Adeyemi',
  '林 美玲',
];
const products = [
  { sku: 'TEA-GREEN-250', name: 'Green tea 250 g', cents: 890 },
  { sku: 'MUG-BLUE-04', name: 'Blue mug', cents: 1450 },
  { sku: 'KETTLE-1L', name: 'Kettle 1 l', cents: 4990 },
  { sku: 'FILTER-100', name: 'Paper filters (100)', cents: 390 },
];
const cities = ['Lisbon', 'Hamburg', 'Torino', 'Kraków', 'Izmir', 'Ibadan', 'Kaohsiung'];

/** Creates the event maker for a seed. */
export function createSampleEvents(seed: number): SampleEvents {
  const random = mulberry32(seed);
  const below = (limit: number): number => Math.floor(random() * limit);
  const pick = <T>(values: readonly [T, ...T[]] | readonly T[]): T => {
    const value = values[below(values.length)];
    if (value === undefined) throw new RangeError('Nothing to pick from');
    return value;
  };
  let orders = 10_400;
  let users = 3_100;

  return {
    random,
    order(atMs) {
      orders += 1;
      const type = pick(['order.placed', 'order.placed', 'order.paid', 'order.cancelled']);
      const items = Array.from({ length: 1 + below(3) }, () => ({ ...pick(products), quantity: 1 + below(4) }));
      const total = items.reduce((sum, item) => sum + item.cents * item.quantity, 0);
      return event(type, `order-${orders}`, {
        orderId: orders,
        placedAt: new Date(atMs).toISOString(),
        customer: { name: pick(customers), address: { city: pick(cities), zip: String(10_000 + below(89_999)) } },
        items,
        total: { cents: total, currency: 'EUR' },
        ...(type === 'order.cancelled' ? { reason: pick(['changed my mind', 'ordered twice', 'too slow']) } : {}),
      });
    },
    payment(atMs, options = { isPoison: false }) {
      const orderId = orders - below(40);
      const amount = options.isPoison ? null : { cents: 500 + below(20_000), currency: pick(['EUR', 'EUR', 'CHF']) };
      return event('payment.captured', `order-${orderId}`, {
        orderId,
        amount,
        method: { kind: 'card', brand: pick(['visa', 'mastercard']), last4: String(1000 + below(9000)) },
        capturedAt: new Date(atMs).toISOString(),
      });
    },
    user(atMs) {
      users += 1;
      const type = pick(['user.signed_up', 'user.upgraded']);
      return event(type, `user-${users}`, {
        userId: users,
        at: new Date(atMs).toISOString(),
        plan: pick(['free', 'pro', 'team']),
        utm: { source: pick(['newsletter', 'search', 'friend']), campaign: null },
        features: { beta: random() < 0.3, seats: 1 + below(20) },
      });
    },
    reading(atMs) {
      const celsius = (18 + random() * 9).toFixed(2);
      return fields([
        'sensor',
        `s-${below(24)}`,
        'celsius',
        celsius,
        'at',
        String(atMs),
        'ok',
        random() < 0.02 ? '0' : '1',
      ]);
    },
    audit(atMs) {
      return event('audit', `user-${1 + below(users)}`, {
        actor: pick(customers),
        action: pick(['login', 'export', 'role.granted', 'password.changed']),
        at: new Date(atMs).toISOString(),
        ip: `10.${below(255)}.${below(255)}.${below(255)}`,
      });
    },
  };
}

function event(type: string, key: string, payload: unknown): EntryFields {
  return fields(['type', type, 'key', key, 'payload', JSON.stringify(payload)]);
}

function fields(texts: readonly string[]): EntryFields {
  return texts.map((text) => Buffer.from(text));
}

/** A small pseudo-random generator with 32 bits of state. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
