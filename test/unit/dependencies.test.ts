/** When `npm start` and `npm test` install packages, and on which Node they refuse to run. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { checkNodeVersion, needsInstall } from '../../scripts/lib/dependencies.mjs';

type Packages = Readonly<Record<string, { readonly version: string; readonly optional?: boolean }>>;

describe('Installing packages', () => {
  let root: string;

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'redis-streams-dependencies-'));
  });

  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
  });

  const lock = (packages: Packages): void => {
    writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ packages }));
  };
  const installed = (packages: Packages): void => {
    mkdirSync(path.join(root, 'node_modules'));
    writeFileSync(path.join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
  };
  const wanted: Packages = { '': { version: '0.1.0' }, 'node_modules/a': { version: '1.0.0' } };

  it('is needed when nothing is installed', () => {
    lock(wanted);
    assert.equal(needsInstall(root), true);
  });

  it('is not needed when the versions are the same, whatever the times of the files', () => {
    installed({ 'node_modules/a': { version: '1.0.0' } });
    lock(wanted);
    assert.equal(needsInstall(root), false);
  });

  it('is needed when a version differs or a package is missing', () => {
    installed({ 'node_modules/a': { version: '1.0.1' } });
    lock(wanted);
    assert.equal(needsInstall(root), true);
    lock({ 'node_modules/a': { version: '1.0.1' }, 'node_modules/b': { version: '1.0.0' } });
    assert.equal(needsInstall(root), true);
  });

  it('does not miss what is optional on other platforms', () => {
    installed({ 'node_modules/a': { version: '1.0.0' } });
    lock({ ...wanted, 'node_modules/other-platform': { version: '1.0.0', optional: true } });
    assert.equal(needsInstall(root), false);
  });

  it('refuses a Node that is too old, and says which is needed', () => {
    checkNodeVersion('20.19.0');
    checkNodeVersion('24.0.0');
    assert.throws(() => {
      checkNodeVersion('20.18.3');
    }, /Node 20\.19 or newer/);
    assert.throws(() => {
      checkNodeVersion('18.20.0');
    }, /18\.20\.0/);
  });
});
