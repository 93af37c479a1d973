import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { BusError } from '../../src/bus/errors';
import { ReplyReader } from '../../src/bus/redis/replies';
import { connectError, replyError } from '../../src/bus/redis/replyErrors';

const replies = new ReplyReader({ command: 'TEST', key: 'orders' });
const bytes = (text: string): Buffer => Buffer.from(text);
const entry = (id: string): unknown[] => [bytes(id), [bytes('a'), bytes('1')]];
const parsed = (id: string): object => ({ id, fields: [bytes('a'), bytes('1')] });

function refuses(read: () => unknown): void {
  assert.throws(read, (error) => {
    assert.ok(BusError.is(error, 'protocol'));
    assert.match(error.message, /^TEST on orders failed: the reply is not /);
    return true;
  });
}

describe('replies', () => {
  it('read integers, also as text, and beyond 2^53 as the nearest double', () => {
    assert.equal(replies.count('12'), 12);
    assert.equal(replies.count(bytes('-3')), -3);
    assert.equal(replies.count('9223372036854775807'), 2 ** 63);
    for (const wrong of ['', '1.5', null, [], undefined]) refuses(() => replies.count(wrong));
  });

  it('read ids only in the form that servers give', () => {
    assert.equal(replies.id(bytes('18446744073709551615-0')), '18446744073709551615-0');
    for (const wrong of ['5', '05-0', '5-', '-5', '5-0\n', 'x']) refuses(() => replies.id(bytes(wrong)));
  });

  it('read streams of entries in both protocols, and none as an empty list', () => {
    const expected = [parsed('1-0'), parsed('2-0')];
    const entries = [entry('1-0'), entry('2-0')];
    assert.deepEqual(replies.deliveredOfOneStream([[bytes('orders'), entries]]), expected);
    assert.deepEqual(replies.deliveredOfOneStream([bytes('orders'), entries]), expected);
    assert.deepEqual(replies.deliveredOfOneStream([[bytes('orders'), []]]), []);
    assert.deepEqual(replies.deliveredOfOneStream(null), []);
    assert.deepEqual(replies.entries(null), []);
  });

  it('read a message that is gone as null, and what was before a claiming read', () => {
    assert.deepEqual(replies.delivered([bytes('1-0'), null]), { id: '1-0', fields: null });
    assert.deepEqual(replies.delivered([...entry('1-0'), '1500', '2']), {
      ...parsed('1-0'),
      before: { idleMs: 1500, deliveryCount: 2 },
    });
    refuses(() => replies.entry([bytes('1-0'), null]));
    refuses(() => replies.entry([bytes('1-0'), [bytes('odd')]]));
  });

  it('read XAUTOCLAIM of 6.2 and of 7.0', () => {
    assert.deepEqual(replies.autoClaim([bytes('0-0'), [entry('1-0'), null, null]]), {
      cursor: '0-0',
      entries: [parsed('1-0')],
      deletedIds: [],
      lostBodies: 2,
    });
    assert.deepEqual(replies.autoClaim([bytes('5-0'), [entry('1-0')], [bytes('2-0')]]), {
      cursor: '5-0',
      entries: [parsed('1-0')],
      deletedIds: ['2-0'],
      lostBodies: 0,
    });
  });

  it('read XCLAIM with and without bodies, leaving out what an old server no longer has', () => {
    assert.deepEqual(replies.claimedIds([bytes('1-0'), bytes('2-0')]), ['1-0', '2-0']);
    assert.deepEqual(replies.claimedIds([entry('1-0'), null, entry('3-0')]), ['1-0', '3-0']);
  });

  it('read XINFO by name, in any order, leaving undefined what was not told', () => {
    const old = [bytes('length'), '1', bytes('radix-tree-keys'), '9', bytes('last-generated-id'), bytes('1-0')];
    const rest = [bytes('groups'), '2', bytes('first-entry'), entry('1-0'), bytes('last-entry'), null];
    const expected = {
      length: 1,
      groups: 2,
      lastGeneratedId: '1-0',
      firstEntry: parsed('1-0'),
      lastEntry: null,
    };
    assert.deepEqual(replies.streamInfo([...old, ...rest]), expected);
    const told = [bytes('entries-added'), '7', bytes('max-deleted-entry-id'), bytes('0-0'), ...rest, ...old];
    assert.deepEqual(replies.streamInfo(told), { ...expected, entriesAdded: 7, maxDeletedId: '0-0' });
  });

  it('tell a lag of null from one that was not told', () => {
    const group: unknown[] = ['consumers', 'pending'].flatMap((name) => [bytes(name), '0']);
    group.push(bytes('name'), bytes('g'), bytes('last-delivered-id'), bytes('0-0'));
    const [without] = replies.groupInfos([group]);
    assert.ok(without && !('lag' in without) && !('entriesRead' in without));
    const [unknown] = replies.groupInfos([[...group, bytes('lag'), null, bytes('entries-read'), null]]);
    assert.deepEqual([unknown?.lag, unknown?.entriesRead], [null, null]);
  });

  it('read a pending entry that was released without an owner', () => {
    const row = [bytes('1-0'), bytes(''), '-1', '9223372036854775807'];
    assert.deepEqual(replies.pendingEntries([row]), [{ id: '1-0', consumer: '', idleMs: -1, deliveryCount: 2 ** 63 }]);
  });

  it('of scripts are numbers, bytes, null and lists', () => {
    assert.deepEqual(replies.raw([null, '5', bytes('5'), ['-1']]), [null, 5, bytes('5'), [-1]]);
    assert.throws(
      () => replies.raw([new Error('NOGROUP no such group')]),
      (error) => BusError.is(error, 'no-group'),
    );
  });
});

describe('error replies', () => {
  const reasons: readonly [string, string][] = [
    ["NOGROUP No such key 's' or consumer group 'g'", 'no-group'],
    ['WRONGTYPE Operation against a key holding the wrong kind of value', 'wrong-type'],
    ['BUSYGROUP Consumer Group name already exists', 'group-exists'],
    ['NOAUTH Authentication required.', 'authentication'],
    ['WRONGPASS invalid username-password pair or user is disabled.', 'authentication'],
    ['ERR invalid password', 'authentication'],
    ["ERR wrong number of arguments for 'auth' command", 'authentication'],
    ["NOPERM this user has no permissions to run the 'xadd' command", 'no-permission'],
    ["ERR The user executing the script can't run this command or subcommand script: x", 'no-permission'],
    ['DENIED Redis is running in protected mode', 'no-permission'],
    ['ERR no such key', 'no-key'],
    ['ERR The XGROUP subcommand requires the key to exist.', 'no-key'],
    ["OOM command not allowed when used memory > 'maxmemory'.", 'out-of-memory'],
    ["READONLY You can't write against a read only replica.", 'read-only-replica'],
    ['MISCONF Redis is configured to save RDB snapshots', 'writes-refused'],
    ['NOREPLICAS Not enough good replicas to write.', 'writes-refused'],
    ['UNBLOCKED the stream key no longer exists', 'unblocked'],
    ["CROSSSLOT Keys in request don't hash to the same slot", 'cross-slot'],
    ['ERR Script attempted to access a non local key in a cluster node', 'cross-slot'],
    ['TRYAGAIN Multiple keys request during rehashing of slot', 'moved'],
    ['LOADING Redis is loading the dataset in memory', 'loading'],
    ['CLUSTERDOWN Hash slot not served', 'loading'],
    ['BUSY Redis is busy running a script.', 'loading'],
    ['NOSCRIPT No matching script. Please use EVAL.', 'unknown-script'],
    ['ERR The stream has exhausted the last possible ID, unable to add more items', 'exhausted-ids'],
    ['ERR The ID specified in XADD is equal or smaller than the target stream top item', 'id-not-greater'],
    ['ERR max number of clients reached', 'connection-refused'],
    ['ERR syntax error', 'server'],
    ['WHATEVER this is', 'server'],
    ['', 'server'],
  ];

  it('are told apart by their first word, and behind ERR by their sentence', () => {
    for (const [text, reason] of reasons)
      assert.equal(replyError(text, { command: 'XADD', key: 'orders' }).reason, reason, text);
  });

  it('keep their kind inside of a script, as old and new servers wrap them', () => {
    const wrapped = [
      'ERR Error running script (call to f_0123456789abcdef0123456789abcdef01234567): @user_script:3: NOGROUP No such key',
      'ERR Error running script (call to f_01): @user_script:1: @user_script: 1: -NOGROUP No such key',
      'NOGROUP No such key script: 0123456789abcdef0123456789abcdef01234567, on @user_script:3.',
    ];
    for (const text of wrapped) {
      const error = replyError(text, { command: 'settle', key: 'orders' });
      assert.equal(error.reason, 'no-group');
      assert.match(error.message, /^settle on orders failed: NOGROUP No such key\. /);
    }
  });

  it('do not repeat the arguments that a server quotes', () => {
    const quoting = [
      "ERR unknown command 'XFOO', with args beginning with: 'orders' 'S3cret' ",
      'ERR unknown command `XFOO`, with args beginning with: `orders`, `S3cret`, ',
    ];
    for (const text of quoting) {
      const error = replyError(text, { command: 'XFOO' });
      assert.equal(error.reason, 'unknown-command');
      assert.doesNotMatch(inspect(error), /S3cret/);
    }
  });

  it('tell where a cluster has the key', () => {
    assert.deepEqual(replyError('MOVED 3999 127.0.0.1:6381', { command: 'XLEN' }).details.redirect, {
      kind: 'moved',
      slot: 3999,
      host: '127.0.0.1',
      port: 6381,
    });
    assert.equal(replyError('ASK 3999 ::1:6381', { command: 'XLEN' }).details.redirect?.host, '::1');
    assert.equal(replyError('MOVED 3999 :6381', { command: 'XLEN' }).details.redirect?.host, '');
  });

  it('show names and texts so that they cannot disguise themselves, and not without end', () => {
    const error = replyError(`ERR \u202e\n${'x'.repeat(1000)}`, { command: 'XLEN', key: 'a\nb' });
    assert.match(error.message, /^XLEN on a\\nb failed: ERR \\u202e\\n/);
    assert.ok(error.message.length < 400);
  });

  it('of connections say what to check', () => {
    const failed = (code: string): BusError => connectError(Object.assign(new Error('x'), { code }), 'host:1');
    assert.equal(failed('ECONNREFUSED').reason, 'connection-refused');
    assert.equal(failed('ETIMEDOUT').reason, 'timeout');
    assert.equal(failed('ECONNRESET').reason, 'connection-lost');
    assert.equal(failed('ERR_SSL_WRONG_VERSION_NUMBER').reason, 'tls');
    assert.equal(failed('DEPTH_ZERO_SELF_SIGNED_CERT').reason, 'tls');
    const several = new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]);
    assert.equal(connectError(several, 'localhost:1').reason, 'connection-refused');
  });
});
