// Random commands for the differential tests: few names and ids, so that commands meet, and now and then a wrong argument.
import fc from 'fast-check';

/** A command, and who sends it: client 0 most of the time, clients 1 and 2 for reads that block. */
export interface Step {
  readonly client: 0 | 1 | 2;
  readonly command: readonly string[];
}

/** The keys that sequences use; the last one tends to hold text. */
export const fuzzKeys = ['s1', 's2', 'text'] as const;
/** The groups that sequences use. */
export const fuzzGroups = ['g1', 'g2'] as const;

const key = fc.oneof(
  { weight: 14, arbitrary: fc.constant('s1') },
  { weight: 4, arbitrary: fc.constant('s2') },
  fc.constant('text'),
);
const group = fc.oneof(
  { weight: 14, arbitrary: fc.constant('g1') },
  { weight: 4, arbitrary: fc.constant('g2') },
  fc.constant('none'),
);
const consumer = fc.constantFrom('ann', 'bob', 'cy', '', '\xff\x00\n');
const edgeIds = [
  '0-0',
  '0',
  '5',
  '18446744073709551615',
  '18446744073709551615-18446744073709551615',
  '9007199254740993-1',
  '12-0007',
  ' 3-1',
];
const badIds = ['-1', 'x', '3-', '18446744073709551616-1', '1-2-3', '', '+', '-', '$', '>', '*'];
const smallId = fc
  .tuple(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 0, max: 1 }))
  .map(([ms, seq]) => `${ms}-${seq}`);
const id = fc.oneof(
  { weight: 20, arbitrary: smallId },
  { weight: 2, arbitrary: fc.constantFrom(...edgeIds) },
  fc.constantFrom(...badIds),
);
const ids = fc.array(id, { minLength: 1, maxLength: 4 });
const newId = fc.oneof(
  { weight: 14, arbitrary: smallId },
  { weight: 8, arbitrary: fc.integer({ min: 1, max: 14 }).map((ms) => `${ms}-*`) },
  // The time in an id of the server's own would differ.
  { weight: 1, arbitrary: id.filter((one) => one !== '*') },
);
const bound = fc.oneof(
  id,
  id.map((one) => `(${one}`),
  fc.constantFrom('-', '+'),
);
const lowBound = fc.oneof({ weight: 3, arbitrary: fc.constant('-') }, bound);
const highBound = fc.oneof({ weight: 3, arbitrary: fc.constant('+') }, bound);
const count = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom('1', '2', '3', '10') },
  fc.constantFrom('0', '-1', 'x', '9223372036854775807'),
);
const word = fc.constantFrom(
  'a',
  'f',
  '007',
  '-5',
  '1234567890123',
  '',
  'x'.repeat(70),
  '\x00\xff',
  'long'.repeat(300),
);
const fields = fc.array(fc.tuple(word, word), { minLength: 1, maxLength: 3 }).map((pairs) => pairs.flat());
/** Ages are far from the thresholds, so that a slow machine cannot change an outcome. */
const idle = fc.constantFrom('0', '100000', '300000');
const minIdle = fc.oneof(
  { weight: 10, arbitrary: fc.constantFrom('0', '50000', '200000') },
  fc.constantFrom('-1', 'x'),
);
const optional = (option: fc.Arbitrary<readonly string[]>): fc.Arbitrary<readonly string[]> =>
  fc.oneof({ weight: 2, arbitrary: fc.constant<readonly string[]>([]) }, option);
const oneOf = (...words: string[]): fc.Arbitrary<readonly string[]> => fc.constantFrom(...words).map((one) => [one]);
const seq = (...parts: (string | fc.Arbitrary<string | readonly string[]>)[]): fc.Arbitrary<readonly string[]> =>
  fc.tuple(...parts.map((part) => (typeof part === 'string' ? fc.constant(part) : part))).map((words) => words.flat());

const maxLength = seq('MAXLEN', optional(oneOf('~', '=')), fc.constantFrom('0', '1', '2', '3', '10', '150', '-1'));
const minId = seq('MINID', optional(oneOf('~', '=')), id);
const trim = fc.oneof(maxLength, minId);
const limit = fc.oneof(
  { weight: 8, arbitrary: fc.constant<readonly string[]>([]) },
  seq('LIMIT', fc.constantFrom('0', '1', '100', '-1')),
);

const write = seq(
  'XADD',
  key,
  optional(oneOf('NOMKSTREAM')),
  fc.oneof({ weight: 5, arbitrary: fc.constant<readonly string[]>([]) }, seq(trim, limit)),
  newId,
  fields,
);
const readGroup = seq(
  'XREADGROUP',
  'GROUP',
  group,
  consumer,
  optional(seq('COUNT', count)),
  optional(oneOf('NOACK')),
  'STREAMS',
  key,
  fc.oneof({ weight: 8, arbitrary: fc.constant('>') }, id),
);
const claim = seq(
  ...['XCLAIM', key, group, consumer, minIdle, ids],
  optional(fc.oneof(seq('IDLE', idle), seq('TIME', fc.constantFrom('-1', '1', '99999999999999')))),
  optional(seq('RETRYCOUNT', fc.constantFrom('0', '7', '9223372036854775807', '-1'))),
  optional(oneOf('FORCE')),
  optional(oneOf('JUSTID')),
  fc.oneof({ weight: 10, arbitrary: fc.constant<readonly string[]>([]) }, seq('LASTID', id), oneOf('BOGUS')),
);
const ageEverything = seq(
  'XCLAIM',
  key,
  'g1',
  'ann',
  '0',
  fc.array(smallId, { minLength: 3, maxLength: 8 }),
  'IDLE',
  idle,
  'JUSTID',
);
const pending = fc.oneof(
  seq('XPENDING', key, group),
  seq(
    'XPENDING',
    key,
    group,
    fc.oneof({ weight: 3, arbitrary: fc.constant<readonly string[]>([]) }, seq('IDLE', minIdle)),
    lowBound,
    highBound,
    count,
    optional(seq(consumer)),
  ),
);
const groups = fc.oneof(
  {
    weight: 5,
    arbitrary: seq(
      'XGROUP',
      'CREATE',
      key,
      group,
      fc.oneof(fc.constantFrom('0', '$'), id),
      optional(oneOf('MKSTREAM')),
      optional(seq('ENTRIESREAD', fc.constantFrom('0', '2', '-1', '-2'))),
    ),
  },
  {
    weight: 2,
    arbitrary: seq(
      'XGROUP',
      'SETID',
      key,
      group,
      fc.oneof(fc.constantFrom('0', '$'), id),
      optional(seq('ENTRIESREAD', fc.constantFrom('0', '2', '-1'))),
    ),
  },
  seq('XGROUP', 'DESTROY', key, group),
  seq('XGROUP', fc.constantFrom('CREATECONSUMER', 'DELCONSUMER'), key, group, consumer),
  seq('XGROUP', fc.constantFrom('HELP', 'BOGUS', 'CREATE', 'destroy'), optional(seq(key, group))),
);
const info = fc.oneof(
  seq('XINFO', 'STREAM', key, optional(seq('FULL', optional(seq('COUNT', count))))),
  seq('XINFO', fc.constantFrom('GROUPS', 'CONSUMERS', 'HELP', 'BOGUS'), optional(seq(key)), optional(seq(group))),
);
const entries = fc.oneof(
  seq('XRANGE', key, lowBound, highBound, optional(seq('COUNT', count))),
  seq('XREVRANGE', key, highBound, lowBound, optional(seq('COUNT', count))),
  seq('XREAD', optional(seq('COUNT', count)), 'STREAMS', key, key, id, id),
  seq('XREAD', 'STREAMS', key, fc.oneof(id, fc.constantFrom('$', '>'))),
  seq('XLEN', key),
);
const changes = fc.oneof(
  seq('XDEL', key, ids),
  seq('XTRIM', key, trim, limit),
  seq('XACK', key, group, ids),
  seq(
    'XSETID',
    key,
    id,
    optional(seq('ENTRIESADDED', fc.constantFrom('0', '5', '-1', '9223372036854775807'))),
    optional(seq('MAXDELETEDID', id)),
  ),
  seq(
    'XAUTOCLAIM',
    key,
    group,
    consumer,
    minIdle,
    fc.oneof(fc.constant('0'), bound),
    optional(seq('COUNT', count)),
    optional(oneOf('JUSTID')),
  ),
);
const expiry = fc.constantFrom('100000000', '0', '-1', 'x', '9223372036854775807', '3000000');
const keys = fc.oneof(
  seq(
    'SET',
    key,
    word,
    optional(oneOf('NX', 'XX', 'GET')),
    optional(fc.oneof(seq(fc.constantFrom('EX', 'PX', 'EXAT'), expiry), oneOf('KEEPTTL'))),
  ),
  seq(
    fc.constantFrom(
      'GET',
      'GETDEL',
      'STRLEN',
      'INCR',
      'TYPE',
      'TTL',
      'PERSIST',
      'EXISTS',
      'DEL',
      'UNLINK',
      'TOUCH',
      'MGET',
    ),
    key,
  ),
  seq('INCRBY', key, fc.constantFrom('1', '-7', 'x', '9223372036854775807')),
  seq(fc.constantFrom('SETNX', 'RENAME', 'RENAMENX'), key, key),
  seq(fc.constantFrom('SETEX', 'PSETEX'), key, expiry, word),
  seq(
    fc.constantFrom('EXPIRE', 'PEXPIREAT', 'EXPIREAT'),
    key,
    expiry,
    optional(oneOf('NX', 'XX', 'GT', 'LT', 'bogus')),
    optional(oneOf('GT', 'LT')),
  ),
  seq(
    fc.constantFrom('DBSIZE', 'EXISTS', 'FLUSHDB', 'ECHO', 'PING', 'SELECT'),
    optional(seq(fc.constantFrom('0', '99', 'x'))),
  ),
);
const transaction = fc.oneof(
  seq('MULTI'),
  seq('MULTI'),
  seq('EXEC'),
  seq('EXEC'),
  seq('EXEC'),
  seq('DISCARD'),
  seq('WATCH', key),
  seq('UNWATCH'),
);

const command: fc.Arbitrary<readonly string[]> = fc.oneof(
  { weight: 30, arbitrary: write },
  { weight: 20, arbitrary: readGroup },
  { weight: 14, arbitrary: groups },
  { weight: 14, arbitrary: changes },
  { weight: 10, arbitrary: claim },
  { weight: 5, arbitrary: ageEverything },
  { weight: 8, arbitrary: pending },
  { weight: 8, arbitrary: entries },
  { weight: 6, arbitrary: info },
  { weight: 8, arbitrary: keys },
  { weight: 5, arbitrary: transaction },
);
const blockingRead: fc.Arbitrary<readonly string[]> = fc.oneof(
  seq(
    'XREADGROUP',
    'GROUP',
    group,
    consumer,
    optional(seq('COUNT', count)),
    optional(oneOf('NOACK')),
    'BLOCK',
    '0',
    'STREAMS',
    key,
    key,
    '>',
    '>',
  ),
  seq('XREADGROUP', 'GROUP', 'g1', consumer, 'BLOCK', '0', 'STREAMS', 's1', '>'),
  seq('XREAD', optional(seq('COUNT', count)), 'BLOCK', '0', 'STREAMS', key, fc.oneof(id, fc.constant('$'))),
);

/** One step of a sequence. */
export const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 20, arbitrary: command.map((words): Step => ({ client: 0, command: words })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(1 as const, 2 as const), blockingRead)
      .map(([client, words]): Step => ({ client, command: words })),
  },
);

/** A sequence that begins with some streams and groups, so that most commands find something. */
export const sequence: fc.Arbitrary<readonly Step[]> = fc
  .tuple(fc.boolean(), fc.array(step, { minLength: 1, maxLength: 40, size: 'max' }))
  .map(([isPrepared, steps]) => [...(isPrepared ? preparation : []), ...steps]);

const preparation: readonly Step[] = [
  ['XADD', 's1', '1-1', 'a', '1'],
  ['XADD', 's1', '2-1', 'a', '2'],
  ['XADD', 's1', '3-1', 'b', '3'],
  ['XGROUP', 'CREATE', 's1', 'g1', '0'],
  ['XREADGROUP', 'GROUP', 'g1', 'ann', 'COUNT', '2', 'STREAMS', 's1', '>'],
].map((words): Step => ({ client: 0, command: words }));
