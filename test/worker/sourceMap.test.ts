/** The worker's source map, by which breakpoints in its sources are found. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { listFiles, PackageManager } from '@vscode/vsce';
import { stage } from '../../scripts/lib/stage.mjs';
import { workerFile } from './support/workerProcess';

describe('The source map of the worker', () => {
  it('leads only to sources that are shipped, the sample handler among them', async () => {
    const { sources } = JSON.parse(readFileSync(`${workerFile}.map`, 'utf8')) as {
      readonly sources: readonly string[];
    };
    const mapped = sources.map((source) => path.posix.join('dist', source));
    const folder = mkdtempSync(path.join(tmpdir(), 'redis-streams-vsix-'));
    try {
      const shipped = await listFiles({ cwd: stage(folder), packageManager: PackageManager.None });
      assert.deepEqual(
        mapped.filter((file) => !shipped.includes(file)),
        [],
      );
      assert.ok(mapped.includes('src/worker/sampleHandler.ts'));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
