import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { parseSources, stanzaFor } from '../../scripts/lib/aptSources.mjs';
import { findProgram } from '../../scripts/lib/findProgram.mjs';
import { freePort } from '../../scripts/lib/freePort.mjs';
import { serverMatrix, shortMatrix } from '../../scripts/lib/serverMatrix.mjs';

describe('the package sources of a Debian machine', () => {
  it('are read from deb822 stanzas: the suite itself, its main component, with what they trust', () => {
    const text = [
      'Types: deb deb-src',
      '# a comment inside',
      'URIs: http://mirror.example/debian http://second.example/debian',
      'Suites: bookworm bookworm-updates',
      'Components: main contrib',
      'Signed-By: /usr/share/keyrings/a.gpg',
      '',
      'Types: deb',
      'URIs: http://mirror.example/security',
      'Suites: bookworm-security',
      'Components: main',
      '',
      'Types: deb',
      'URIs: http://off.example/debian',
      'Suites: bookworm',
      'Components: main',
      'Enabled: no',
      '',
      'Types: deb',
      'URIs: http://other.example/apt',
      'Suites: bookworm',
      'Components: contrib',
    ].join('\n');
    const options = { 'Signed-By': '/usr/share/keyrings/a.gpg' };
    assert.deepEqual(parseSources(text, true, 'bookworm'), [
      { uri: 'http://mirror.example/debian', options },
      { uri: 'http://second.example/debian', options },
    ]);
  });

  it('keep a key that stands in the stanza itself', () => {
    const key = 'Signed-By:\n -----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n abc=\n -----END PGP PUBLIC KEY BLOCK-----';
    const text = `Types: deb\nURIs: http://mirror.example/debian\nSuites: trixie\nComponents: main\n${key}\n`;
    const [source] = parseSources(text, true, 'trixie');
    assert.ok(source);
    assert.ok(stanzaFor(source, 'sid', 'amd64').includes(' .\n abc=\n -----END PGP'));
    assert.deepEqual(parseSources(stanzaFor(source, 'sid', 'amd64'), true, 'sid'), [source]);
  });

  it('are read from lines, with and without options', () => {
    const text = [
      '# deb http://no.example/debian bookworm main',
      'deb http://mirror.example/debian bookworm main contrib',
      'deb [arch=amd64 signed-by=/k.gpg] http://second.example/debian bookworm main',
      'deb-src http://mirror.example/debian bookworm main',
      'deb http://mirror.example/debian bookworm-updates main',
    ].join('\n');
    assert.deepEqual(parseSources(text, false, 'bookworm'), [
      { uri: 'http://mirror.example/debian', options: {} },
      { uri: 'http://second.example/debian', options: { 'Signed-By': '/k.gpg' } },
    ]);
  });
});

describe('the server matrix', () => {
  it('has the oldest and the newest Redis in its short form', () => {
    assert.deepEqual(
      shortMatrix.map(({ suite, kind }) => [suite, kind]),
      [
        ['bullseye', 'redis'],
        ['experimental', 'redis'],
      ],
    );
    assert.ok(serverMatrix.some(({ kind }) => kind === 'valkey'));
  });
});

describe('a free port', () => {
  it('can be listened on, and so can the cluster bus port above it', async () => {
    const port = await freePort({ clusterBus: true });
    for (const each of [port, port + 10_000]) {
      const server = createServer();
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        server.listen({ port: each, host: '127.0.0.1' }, resolve);
      });
      await new Promise((resolve) => server.close(resolve));
    }
  });
});

describe('findProgram', () => {
  it('finds what can be executed and nothing else', () => {
    assert.match(findProgram('node') ?? '', /\/node$/);
    assert.equal(findProgram('package.json', [process.cwd()]), undefined);
    assert.equal(findProgram('no-such-program-as-this'), undefined);
  });
});
