/** What the VSIX holds: asserted file by file for what runs, by folder for sources that can be stepped into. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { listFiles, PackageManager } from '@vscode/vsce';
import { stage } from '../../scripts/lib/stage.mjs';

const repository = path.resolve(import.meta.dirname, '../..');

describe('the VSIX', () => {
  let files: string[];
  const folder = mkdtempSync(path.join(tmpdir(), 'redis-streams-vsix-'));

  before(async function () {
    this.timeout(30_000);
    files = await listFiles({ cwd: stage(folder), packageManager: PackageManager.None });
  });

  after(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('holds exactly these files besides the sources that can be stepped into', () => {
    const isSource = (file: string): boolean => /^src\/(base|bus|worker)\/.*\.ts$/.test(file);
    const built = (file: string): boolean => file.startsWith('dist/');
    const others = files.filter((file) => !isSource(file) && !built(file)).sort();
    assert.deepEqual(others, [
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'l10n/bundle.l10n.json',
      'media/activity.svg',
      'media/icon.png',
      'media/icon.svg',
      'media/panel.jpg',
      'media/stream-dark.svg',
      'media/stream-light.svg',
      'package.json',
      'package.nls.json',
    ]);
  });

  it('holds no built file but the bundles, the maps of what can be stepped into and the styles', () => {
    const allowed = /^dist\/(extension\.js|ioredis\.js|worker\.js(\.map)?|webview\/[a-zA-Z]+\.(js|css))$/;
    assert.deepEqual(
      files.filter((file) => file.startsWith('dist/') && !allowed.test(file)),
      [],
    );
  });

  it('holds the sources of the worker and the bus, so that breakpoints can be set before launch', () => {
    for (const file of ['src/worker/sampleHandler.ts', 'src/bus/index.ts']) assert.ok(files.includes(file), file);
  });

  it('holds no test, script, setting or secret of this repository', () => {
    const foreign = files.filter((file) =>
      /^(test|scripts|bench|out|node_modules|\.vscode|\.ci|docs|webview|src\/(tree|panels|connections|commands|ui))\//.test(
        file,
      ),
    );
    assert.deepEqual(foreign, []);
  });

  it('is made from a package that has no registry address in its lock file', () => {
    const lock = readFileSync(path.join(repository, 'package-lock.json'), 'utf8');
    assert.doesNotMatch(lock, /"resolved"/);
  });
});
