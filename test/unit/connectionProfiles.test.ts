// Where connections come from and where their secrets go: URLs, settings, the stores.
import assert from 'node:assert/strict';
import { englishLocalizer } from '../../src/base/localize';
import {
  addressOf,
  hostsOf,
  isLoopbackUrl,
  joinSecrets,
  splitSecrets,
  userOf,
} from '../../src/connections/connectionUrl';
import { connectionId } from '../../src/connections/profiles';
import type { ConnectionProfile } from '../../src/connections/profiles';
import { readSettingProfiles, substituteVariables } from '../../src/connections/settingProfiles';
import type { SettingLevels } from '../../src/connections/settingProfiles';
import { memoryStore } from '../support/treeText';

describe('the passwords in a URL', () => {
  const cases: readonly (readonly [string, string, object | undefined])[] = [
    ['redis://h:1', 'redis://h:1', undefined],
    ['redis://me@h', 'redis://me@h', undefined],
    ['redis://me:p%40ss@h:1/2', 'redis://me@h:1/2', { password: 'p@ss' }],
    ['redis://:secret@h', 'redis://h', { password: 'secret' }],
    ['redis://me:@h', 'redis://me@h', undefined],
    ['redis://me:a/b@c@h:1', 'redis://me@h:1', { password: 'a/b@c' }],
    ['redis://me:100%@h', 'redis://me@h', { password: '100%' }],
    [
      'redis+sentinel://me:p@a,b/main?sentinelUsername=s&sentinelPassword=q',
      'redis+sentinel://me@a,b/main?sentinelUsername=s',
      { password: 'p', sentinelPassword: 'q' },
    ],
    ['redis://h?password=p', 'redis://h', { password: 'p' }],
    ['no url at all', 'no url at all', undefined],
    // What nobody percent-encoded.
    ['redis://me:p?s#s@h:1/2', 'redis://me@h:1/2', { password: 'p?s#s' }],
    ['redis://me:1234?x@h', 'redis://me@h', { password: '1234?x' }],
    ['redis://me:a@b#c@h?db=1', 'redis://me@h?db=1', { password: 'a@b#c' }],
    ['redis://h?sentinelPassword=a@b', 'redis://h', { sentinelPassword: 'a@b' }],
    ['redis+sentinel://h/m?sentinelUsername=a@b', 'redis+sentinel://h/m?sentinelUsername=a@b', undefined],
    // A scheme that is missing or mistyped.
    ['me:secret@h:6379', 'me@h:6379', { password: 'secret' }],
    ['redis:/me:secret@h', 'redis:/me@h', { password: 'secret' }],
    ['"redis://me:secret@h"', '"redis@h"', { password: '//me:secret' }],
  ];
  for (const [text, url, secrets] of cases) {
    it(`are taken out of ${text}`, () => {
      assert.deepEqual(splitSecrets(text), { url, secrets });
    });
  }

  it('are put back so that they come out again', () => {
    for (const password of ['simple', 'p@ss/word:?#[]%', 'ключ ']) {
      const secrets = { password, sentinelPassword: `${password}2` };
      for (const url of ['redis://h:1/2', 'redis+sentinel://me@a,b/main?sentinelUsername=s']) {
        assert.deepEqual(splitSecrets(joinSecrets(url, secrets)), { url, secrets });
      }
    }
  });
});

describe('what else a URL tells', () => {
  it('is its user, hosts and address', () => {
    assert.equal(userOf('redis://me%20too:x@h'), 'me too');
    assert.equal(userOf('redis://h'), undefined);
    assert.deepEqual(hostsOf('redis+cluster://u@A:1,[::1]:2,c/0'), ['a', '::1', 'c']);
    assert.equal(addressOf('redis://me@h:1/2?x=y'), 'h:1');
  });
  it('is whether all its hosts are this machine', () => {
    for (const url of [
      'redis://127.0.0.1',
      'redis://localhost:1',
      'redis://[::1]:6379',
      'redis://127.8.9.1,a.localhost',
    ])
      assert.ok(isLoopbackUrl(url), url);
    for (const url of [
      'redis://10.0.0.1',
      'redis://127.0.0.1.example.com',
      'redis://localhost,example.com',
      'localhost',
      'nonsense',
    ])
      assert.ok(!isLoopbackUrl(url), url);
  });
});

describe('connections of the settings', () => {
  const read = (levels: Partial<SettingLevels>): ReturnType<typeof readSettingProfiles> =>
    readSettingProfiles({ user: undefined, workspace: undefined, ...levels }, englishLocalizer);

  it('are what the user wrote, local for this machine and production when nothing else is said', () => {
    const { profiles, problems } = read({
      user: [
        { name: 'here', url: 'redis://localhost' },
        { name: 'there', url: 'redis://example.com' },
        { name: 'dev', url: 'redis://u:${env:PASS}@example.com', environment: 'development' },
      ],
    });
    assert.deepEqual(problems, []);
    assert.deepEqual(
      profiles.map(({ id, environment, source }) => [id, environment, source]),
      [
        ['user/here', 'local', 'user setting'],
        ['user/there', 'production', 'user setting'],
        ['user/dev', 'development', 'user setting'],
      ],
    );
  });

  it('become problems, each with its name, when they cannot be used', () => {
    const { profiles, problems } = read({
      user: [
        42,
        { url: 'redis://h' },
        { name: 'a' },
        { name: 'b', url: 'redis://h', environment: 'prod' },
        { name: 'c', url: 'redis://h' },
        { name: 'c', url: 'redis://i' },
      ],
    });
    assert.deepEqual(
      profiles.map(({ name }) => name),
      ['c'],
    );
    assert.equal(problems.length, 5);
    assert.match(problems[3]?.message ?? '', /environment of connection "b"/);
    assert.match(read({ user: 'no list' }).problems[0]?.message ?? '', /must be a list/);
  });

  it('never carry a password: the user may move it, a workspace has to remove it', () => {
    const entry = { name: 'a', url: 'redis://me:hunter2@h' };
    const [mine] = read({ user: [entry] }).problems;
    assert.deepEqual(mine?.movable, { index: 0 });
    const [theirs] = read({ workspace: [entry] }).problems;
    assert.equal(theirs?.movable, undefined);
    const mixed = read({ user: [{ name: 'a', url: 'redis://me:x${env:P}@h' }] });
    assert.equal(mixed.profiles.length, 0);
    assert.doesNotMatch(JSON.stringify([mine, theirs, mixed]), /hunter2/);
  });

  it('of a workspace may use no variable and cannot make a remote server look local', () => {
    const { profiles, problems } = read({
      workspace: [
        { name: 'a', url: 'redis://${env:HOST}' },
        { name: 'b', url: 'redis://example.com', environment: 'local' },
        { name: 'c', url: 'redis://localhost', environment: 'local' },
      ],
    });
    assert.deepEqual(
      profiles.map(({ name, environment }) => [name, environment]),
      [
        ['b', 'production'],
        ['c', 'local'],
      ],
    );
    assert.match(problems[0]?.message ?? '', /only your user settings may/);
  });

  it('take variables percent-encoded, whole URLs as they are, and name what is not set', () => {
    const variables = { P: 'p@ss/', URL: 'redis://u:p@h' };
    assert.deepEqual(substituteVariables('redis://u:${env:P}@h', variables), { url: 'redis://u:p%40ss%2F@h' });
    assert.deepEqual(substituteVariables('${env:URL}', variables), { url: 'redis://u:p@h' });
    assert.deepEqual(substituteVariables('redis://${env:NOPE}', variables), { missing: 'NOPE' });
    assert.deepEqual(substituteVariables('redis://${env:toString}', {}), { missing: 'toString' });
  });
});

describe('the profile store', () => {
  const profile: ConnectionProfile = {
    id: connectionId('saved/1'),
    name: 'shop',
    url: 'redis://me@h',
    environment: 'staging',
    source: 'saved',
  };

  it('keeps passwords in the secret storage and nowhere else', async () => {
    const { state, secrets, store } = memoryStore();
    await store.save(profile, { password: 'hunter2' });
    assert.deepEqual(store.saved(), [profile]);
    assert.deepEqual(await store.secretsOf(profile), { password: 'hunter2' });
    assert.doesNotMatch(JSON.stringify([...state]), /hunter2/);
    assert.doesNotMatch([...secrets.keys()].join(), /hunter2/);
  });

  it('never gives a password to another URL behind the same name, and forgets it then', async () => {
    const { secrets, store } = memoryStore();
    await store.save(profile, { password: 'hunter2' });
    const moved = { ...profile, url: 'redis://me@evil' };
    assert.equal(await store.secretsOf(moved), undefined);
    await store.save(moved, undefined);
    assert.equal(secrets.size, 0);
  });

  it('takes a damaged secret for none, since the error of reading it would quote it', async () => {
    const { store, secrets } = memoryStore();
    const damaged: ConnectionProfile = {
      id: connectionId('saved/damaged'),
      name: 'damaged',
      url: 'redis://h',
      environment: 'local',
      source: 'saved',
    };
    await store.save(damaged, { password: 'hunter2' });
    for (const key of secrets.keys()) secrets.set(key, 'hunter2');
    assert.equal(await store.secretsOf(damaged), undefined);
  });

  it('removes a profile with its password and leaves the others', async () => {
    const { secrets, store } = memoryStore();
    const other = { ...profile, id: connectionId('saved/2') };
    await store.save(profile, { password: 'hunter2' });
    await store.save(other, { password: 'other' });
    await store.remove(profile.id);
    assert.deepEqual(store.saved(), [other]);
    assert.equal(secrets.size, 1);
  });

  it('leaves out what is no profile', () => {
    const { state, store } = memoryStore();
    state.set('redisStreams.connections', [1, null, { id: 'x' }, { ...profile, environment: 'moon' }]);
    assert.deepEqual(store.saved(), []);
    state.set('redisStreams.connections', 'broken');
    assert.deepEqual(store.saved(), []);
  });
});
