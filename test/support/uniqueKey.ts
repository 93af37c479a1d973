// Names that no other test uses, so that tests may share a server. Tested by test/unit/eventually.test.ts.
import { randomBytes } from 'node:crypto';

const run = randomBytes(3).toString('hex');
let count = 0;

/** A key name of its own: `test:3fa9c1:7:orders`; unique in this run and against other runs on the same server. */
export function uniqueKey(name = 'stream'): string {
  count += 1;
  return `test:${run}:${count}:${name}`;
}
