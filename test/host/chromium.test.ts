// Which Chromium is taken, and what is said when there is none.
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureChromium } from '../../scripts/lib/chromium.mjs';

describe('Chromium', () => {
  let folder = '';

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'redis-streams-chromium-'));
  });

  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('is the one that CHROMIUM names, by path or by a name on PATH', async () => {
    const path = program('my-browser');
    assert.equal(await ensureChromium({ env: { CHROMIUM: path, PATH: '' } }), path);
    assert.equal(await ensureChromium({ env: { CHROMIUM: 'my-browser', PATH: folder } }), path);
  });

  it('is never another one when what CHROMIUM names cannot be run', async () => {
    program('chromium');
    await assert.rejects(
      ensureChromium({ env: { CHROMIUM: join(folder, 'missing'), PATH: folder } }),
      /CHROMIUM is .*missing, and that is not a program that can be run/,
    );
  });

  it('is the first known name that is an executable file on PATH', async () => {
    mkdirSync(join(folder, 'chromium'));
    const chrome = program('google-chrome');
    assert.equal(await ensureChromium({ env: { PATH: folder } }), chrome);
  });

  it('is asked for by name when there is none and none may be installed', async () => {
    await assert.rejects(
      ensureChromium({ env: { PATH: folder } }),
      /No Chromium on PATH .*apt-get install chromium.*CHROMIUM/,
    );
  });

  function program(name: string): string {
    const path = join(folder, name);
    writeFileSync(path, '#!/bin/sh\n');
    chmodSync(path, 0o755);
    return path;
  }
});
