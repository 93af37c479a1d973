// docs/sandbox.md lists exactly the commands that the engine has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { commandTable } from '../../src/embedded/commands/table';

describe('docs/sandbox.md', () => {
  it('lists every command and subcommand of the engine, and no other', () => {
    const text = readFileSync(path.resolve(import.meta.dirname, '../../docs/sandbox.md'), 'utf8');
    const section = /## What it knows\n(.*?)\nAny other/s.exec(text)?.[1] ?? '';
    const documented: string[] = [];
    for (const row of section.matchAll(/^\| [a-z ]+ \| (.*) \|$/gm)) {
      for (const [, name = '', subcommands] of (row[1] ?? '').matchAll(/([A-Z_]+)(?: \(([A-Z -]+)\))?/g)) {
        documented.push(name.toLowerCase());
        for (const subcommand of subcommands?.split(' ') ?? []) documented.push(`${name}|${subcommand}`.toLowerCase());
      }
    }
    const known = [...commandTable.all()].flatMap(({ name, subcommands }) => [
      name,
      ...[...subcommands.values()].map((subcommand) => subcommand.name),
    ]);
    assert.deepEqual([...documented].sort(), [...known].sort());
  });
});
