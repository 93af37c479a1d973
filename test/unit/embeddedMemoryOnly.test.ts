// The embedded engine keeps everything in memory: no file of it can reach the disk or start a process.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const folder = path.resolve(import.meta.dirname, '../../src/embedded');
const allowed = new Set(['node:crypto', 'node:net']);

describe('the embedded engine', () => {
  it('imports nothing of Node but sockets and hashes, and so writes nothing to disk', () => {
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
    assert.ok(files.length > 20, 'the sources were found');
    const found = files.flatMap((file) =>
      [...readFileSync(path.join(folder, file), 'utf8').matchAll(/(?:from|import\(|require\()\s*'(node:[^']+)'/g)].map(
        (match) => ({ file, module: match[1] ?? '' }),
      ),
    );
    assert.ok(
      found.some(({ module }) => module === 'node:net'),
      'imports were found',
    );
    assert.deepEqual(
      found.filter(({ module }) => !allowed.has(module)),
      [],
    );
  });
});
