// A folder in the cache is complete or absent.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { cachedFolder, cacheFolder } from '../../scripts/lib/cache.mjs';

describe('The cache', () => {
  const original = process.env.REDIS_STREAMS_CACHE;
  let root = '';

  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'redis-streams-cache-'));
    process.env.REDIS_STREAMS_CACHE = root;
  });

  afterEach(() => {
    rmSync(root, { recursive: true });
    if (original === undefined) delete process.env.REDIS_STREAMS_CACHE;
    else process.env.REDIS_STREAMS_CACHE = original;
  });

  it('is where REDIS_STREAMS_CACHE says, which has to be absolute', () => {
    assert.equal(cacheFolder(), root);
    process.env.REDIS_STREAMS_CACHE = 'relative';
    assert.throws(cacheFolder, /REDIS_STREAMS_CACHE is relative: give an absolute path/);
  });

  it('fills a folder once, also when it is asked for twice at the same time', async () => {
    let fills = 0;
    const fill = async (folder: string): Promise<void> => {
      fills += 1;
      await writeFile(join(folder, 'content'), 'x');
    };
    const [one, other] = await Promise.all([cachedFolder('thing-1', fill), cachedFolder('thing-1', fill)]);
    await cachedFolder('thing-1', fill);
    assert.equal(one, other);
    assert.equal(fills, 1);
    assert.deepEqual(readdirSync(root), ['thing-1']);
    assert.ok(existsSync(join(one, 'content')));
  });

  it('keeps nothing of a fill that failed', async () => {
    const failing = async (folder: string): Promise<void> => {
      await writeFile(join(folder, 'half'), 'x');
      throw new Error('no network');
    };
    await assert.rejects(cachedFolder('thing-2', failing), /no network/);
    assert.deepEqual(readdirSync(root), []);
  });

  it('removes what a process that died while filling left, and fills anew', async () => {
    const dead = spawnSync(process.execPath, ['-e', 'console.log(process.pid)'], { encoding: 'utf8' }).stdout.trim();
    mkdirSync(join(root, `thing-3.partial-${dead}`));
    const folder = await cachedFolder('thing-3', (partial) => writeFile(join(partial, 'content'), 'x'));
    assert.deepEqual(readdirSync(folder), ['content']);
    assert.deepEqual(readdirSync(root), ['thing-3']);
  });
});
