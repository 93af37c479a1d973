// Live connections on a real server: lanes, idleness, backoff, secrets, cancelling. What the tree makes of it is in tree*.test.ts.
import assert from 'node:assert/strict';
import { Redis } from 'ioredis';
import { englishLocalizer } from '../../src/base/localize';
import { connectRedis } from '../../src/bus';
import { ConnectionError } from '../../src/connections/connectionFailure';
import { ConnectionRegistry } from '../../src/connections/connectionRegistry';
import { connectionId } from '../../src/connections/profiles';
import type { ConnectionProfile } from '../../src/connections/profiles';
import type { SettingLevels } from '../../src/connections/settingProfiles';
import { testConnection } from '../../src/connections/testConnection';
import { eventually } from '../support/eventually';
import { manualClock } from '../support/manualClock';
import type { ManualClock } from '../support/manualClock';
import { startRedis } from '../support/redisServer';
import type { RedisServer } from '../support/redisServer';
import { memoryStore } from '../support/treeText';

const clientName = 'connections-test';
const password = 'p@ss/w:rd?#[]% ключ';

describe('a live connection', () => {
  let server: RedisServer;
  let admin: Redis;
  let clock: ManualClock;
  let registry: ConnectionRegistry;
  let setting: SettingLevels;
  let profile: ConnectionProfile;
  let states: string[];

  const openPort: ConstructorParameters<typeof ConnectionRegistry>[0]['openPort'] = (url, { onClosed }) =>
    connectRedis({ url, clientName, onLost: onClosed });

  before(async () => {
    server = await startRedis({ password });
    admin = new Redis({ port: server.port, host: server.host, password, maxRetriesPerRequest: null });
  });
  after(async () => {
    admin.disconnect();
    await server.stop();
  });
  beforeEach(async () => {
    clock = manualClock(Date.now());
    setting = { user: undefined, workspace: undefined };
    states = [];
    profile = {
      id: connectionId('saved/1'),
      name: 'shop',
      url: `redis://${server.host}:${server.port}`,
      environment: 'staging',
      source: 'saved',
    };
    const { store } = memoryStore();
    await store.save(profile, { password });
    registry = new ConnectionRegistry({
      store,
      readSetting: () => setting,
      variables: { PASSWORD: password, WRONG: 'wrong' },
      openPort,
      clock,
      l10n: englishLocalizer,
      onState: (_, { kind }) => states.push(kind),
    });
  });
  afterEach(() => {
    registry.dispose();
  });

  const connection = (name = 'shop'): NonNullable<ReturnType<ConnectionRegistry['find']>> => {
    const found = registry.list().find((each) => each.profile.name === name);
    assert.ok(found);
    return found;
  };
  const links = async (): Promise<number> =>
    String(await admin.client('LIST'))
      .split('\n')
      .filter((line) => line.includes(`name=${clientName}`)).length;

  it('opens nothing before it is used, one link for reads and another for bulk work', async () => {
    assert.equal(await links(), 0);
    await connection().read((inspect) => inspect.serverTimeMs());
    assert.equal(await links(), 1);
    await connection().read((inspect) => inspect.serverTimeMs(), { lane: 'bulk' });
    assert.equal(await links(), 2);
    assert.deepEqual(states, ['connecting', 'connected']);
    assert.equal(connection().isReadOnly, true);
  });

  it('closes idle links and opens them again for the next read, but keeps those that are held', async () => {
    await connection().read((inspect) => inspect.serverTimeMs());
    await connection().read((inspect) => inspect.serverTimeMs(), { lane: 'bulk' });
    const hold = connection().hold();
    clock.advance(61_000);
    await eventually(async () => assert.equal(await links(), 1, 'bulk work is over'));
    hold.dispose();
    clock.advance(61_000);
    await eventually(async () => assert.equal(await links(), 0));
    assert.equal(connection().state.kind, 'connected');
    await connection().read((inspect) => inspect.serverTimeMs());
    assert.equal(await links(), 1);
  });

  it('tries a lost link again after longer and longer waits, and only while it is held', async () => {
    const hold = connection().hold();
    await connection().connect();
    await server.kill();
    await eventually(() => connection().state.kind === 'lost');
    const waits: number[] = [];
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const state = await eventually(() => {
        const { state: now } = connection();
        return now.kind === 'lost' && now.retryAtMs > clock.now() && now;
      });
      const waitMs = state.retryAtMs - clock.now();
      waits.push(waitMs);
      await assert.rejects(
        connection().read((inspect) => inspect.serverTimeMs()),
        (error: unknown) => ConnectionError.is(error) && error.message.startsWith('Cannot connect to shop'),
        'a read does not try by itself before its time',
      );
      clock.advance(waitMs);
    }
    assert.deepEqual(waits, [1000, 2000, 4000, 8000]);
    await eventually(() => {
      const { state } = connection();
      return state.kind === 'lost' && state.retryAtMs > clock.now();
    });
    hold.dispose();
    assert.equal(clock.waiting, 0, 'nobody looks, nothing is tried');
    await server.restart();
    const again = connection().hold();
    clock.advance(60_000);
    await eventually(() => connection().state.kind === 'connected');
    again.dispose();
  });

  it('rejects what was in flight when the link is dropped, and does not come back by itself', async () => {
    await connection().connect();
    await server.kill('SIGSTOP');
    try {
      const reading = connection().read((inspect) => inspect.serverTimeMs());
      connection().disconnect();
      await assert.rejects(reading);
    } finally {
      await server.kill('SIGCONT');
    }
    await assert.rejects(
      connection().read((inspect) => inspect.serverTimeMs()),
      (error: unknown) => ConnectionError.is(error, 'disconnected'),
    );
  });

  it('gives an aborted read up at once, although the server has not answered', async () => {
    await connection().connect();
    await server.kill('SIGSTOP');
    try {
      const abort = new AbortController();
      const reading = connection().read((inspect) => inspect.serverTimeMs(), { signal: abort.signal });
      abort.abort();
      await assert.rejects(reading, { name: 'AbortError' });
    } finally {
      await server.kill('SIGCONT');
    }
    assert.equal(connection().state.kind, 'connected');
  });

  it('hands out nothing that could write', async () => {
    const names = await connection().read(async (inspect) => Object.keys(inspect));
    for (const writing of [
      'add',
      'delete',
      'trim',
      'claim',
      'autoClaim',
      'acknowledge',
      'run',
      'createGroup',
      'readGroup',
    ])
      assert.ok(!names.includes(writing), writing);
  });

  it('takes environment variables into the URLs of the user settings', async () => {
    const url = (variable: string): string => `redis://:\${env:${variable}}@${server.host}:${server.port}`;
    setting = {
      user: ['PASSWORD', 'WRONG', 'MISSING'].map((name) => ({ name, url: url(name), environment: 'local' })),
      workspace: undefined,
    };
    registry.reload();
    assert.ok((await connection('PASSWORD').read((inspect) => inspect.serverTimeMs())) > 0);
    assert.equal(connection('PASSWORD').isReadOnly, false);
    await assert.rejects(connection('WRONG').connect(), /refused the password/);
    await assert.rejects(connection('MISSING').connect(), /variable MISSING is not set/);
  });

  it('stays the same object when it is renamed, starts afresh when it leads elsewhere, and ends when it is removed', async () => {
    const first = connection();
    await first.connect();
    await registry.save({ ...profile, name: 'store' }, { password });
    assert.equal(connection('store'), first);
    assert.equal(first.state.kind, 'connected');
    await registry.save({ ...profile, name: 'store', url: `${profile.url}/1` }, { password });
    assert.equal(first.state.kind, 'disconnected');
    await first.read((inspect) => inspect.serverTimeMs());
    await registry.remove(profile.id);
    assert.deepEqual(registry.list(), []);
    await assert.rejects(first.read((inspect) => inspect.serverTimeMs()));
    await eventually(async () => assert.equal(await links(), 0));
  });

  it('is tested before it is saved, and the test leaves no link behind', async () => {
    const good = await testConnection(profile, { password }, openPort, englishLocalizer);
    assert.ok(good.ok);
    assert.equal(good.server.role, 'master');
    const bad = await testConnection(profile, { password: 'wrong' }, openPort, englishLocalizer);
    assert.ok(!bad.ok);
    assert.equal(bad.failure.reason, 'authentication');
    assert.equal(bad.failure.nextStep?.command, 'redisStreams.editConnection');
    await eventually(async () => assert.equal(await links(), 0));
  });
});
