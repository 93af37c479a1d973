import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { BusError } from '../../src/bus/errors';
import { formatAddress, parseRedisUrl, redactRedisUrl } from '../../src/bus/redis/url';

const local = { host: 'localhost', port: 6379 };

describe('a connection URL', () => {
  it('names one server', () => {
    const standalone = { mode: 'standalone', nodes: [local], tls: false, db: 0 };
    assert.deepEqual(parseRedisUrl('redis://localhost'), standalone);
    assert.deepEqual(parseRedisUrl(' REDIS://localhost:6379/ '), standalone);
    assert.deepEqual(parseRedisUrl('valkey://localhost/2'), { ...standalone, db: 2 });
    assert.deepEqual(parseRedisUrl('redis://localhost?db=3'), { ...standalone, db: 3 });
    assert.deepEqual(parseRedisUrl('rediss://localhost'), { ...standalone, tls: true });
    assert.deepEqual(parseRedisUrl('valkeys://localhost').tls, true);
    assert.deepEqual(parseRedisUrl('redis://[::1]:7000').nodes, [{ host: '::1', port: 7000 }]);
    assert.deepEqual(parseRedisUrl('redis://').nodes, [{ host: '127.0.0.1', port: 6379 }]);
  });

  it('holds credentials, percent-encoded', () => {
    const { username, password } = parseRedisUrl('redis://ann%40x:p%2Fa%3As%25@localhost/1');
    assert.deepEqual([username, password], ['ann@x', 'p/a:s%']);
    assert.deepEqual(parseRedisUrl('redis://:secret@localhost').username, undefined);
    assert.deepEqual(parseRedisUrl('redis://:secret@localhost').password, 'secret');
    assert.deepEqual(parseRedisUrl('redis://ann@localhost').username, 'ann');
    // An @ that was not encoded.
    assert.deepEqual(parseRedisUrl('redis://:a@b@localhost').password, 'a@b');
  });

  it('carries any credentials that were encoded', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 1, unit: 'binary' }),
        fc.string({ minLength: 1, unit: 'binary' }),
        (user, pass) => {
          const url = parseRedisUrl(`redis://${encodeURIComponent(user)}:${encodeURIComponent(pass)}@localhost`);
          assert.deepEqual([url.username, url.password, url.nodes], [user, pass, [local]]);
        },
      ),
    );
  });

  it('names a master that Sentinel watches', () => {
    assert.deepEqual(parseRedisUrl('redis+sentinel://u:p@a:1,b/mymaster/4?sentinelUsername=s&sentinelPassword=q%26'), {
      mode: 'sentinel',
      nodes: [
        { host: 'a', port: 1 },
        { host: 'b', port: 26379 },
      ],
      masterName: 'mymaster',
      tls: false,
      db: 4,
      username: 'u',
      password: 'p',
      sentinelUsername: 's',
      sentinelPassword: 'q&',
    });
    assert.equal(parseRedisUrl('rediss+sentinel://a/m').tls, true);
  });

  it('names nodes of a cluster', () => {
    const url = parseRedisUrl('redis+cluster://a:1,[::1]:2');
    assert.equal(url.mode, 'cluster');
    assert.deepEqual(url.nodes.map(formatAddress), ['a:1', '[::1]:2']);
  });

  it('that cannot be used is refused without repeating any part of it', () => {
    const bad = [
      'localhost',
      'http://:S3cret@localhost',
      'redis://:S3cret@localhost/x',
      'redis://:S3cret@localhost/0/1',
      'redis://:S3cret@localhost:99999',
      'redis://:S3cret@local host:1:2',
      'redis://:S3cret%@localhost',
      'redis://:S3cret@a,b',
      'redis+sentinel://:S3cret@a',
      'redis+cluster://:S3cret@a/3',
      'redis+other://:S3cret@a',
      'redis://:S3/cret@localhost',
      // Read to the letter, these would name another host than people meant.
      'redis://me:1234?S3cret@localhost',
      'redis+sentinel://example.com/S3cret@localhost',
    ];
    for (const text of bad) {
      assert.throws(
        () => parseRedisUrl(text),
        (error) => {
          assert.ok(BusError.is(error, 'invalid-argument'), text);
          assert.match(error.message, /^The connection URL cannot be used: .*\.$/);
          assert.doesNotMatch(inspect(error), /S3|cret/);
          return true;
        },
        text,
      );
    }
  });

  it('is shown without its passwords, also when it is no URL', () => {
    assert.equal(redactRedisUrl('redis://ann:S3cret@host:1/2'), 'redis://ann:***@host:1/2');
    assert.equal(redactRedisUrl('redis://:S3@cr:et@host'), 'redis://:***@host');
    assert.equal(redactRedisUrl('redis://host'), 'redis://host');
    assert.equal(
      redactRedisUrl('redis+sentinel://a/m?sentinelPassword=S3cret&x=1'),
      'redis+sentinel://a/m?sentinelPassword=***&x=1',
    );
    for (const text of [
      'ann:S3cret@host',
      'S3cret@host',
      'redis:S3cret@host',
      'redis://ann:S3/cret@host',
      '//:S3cret@h',
    ])
      assert.doesNotMatch(redactRedisUrl(text), /S3|cret/, text);
  });
});
