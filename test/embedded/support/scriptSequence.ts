// Sequences of ordinary commands and scripts.
import fc from 'fast-check';
import { step } from './commandArbitrary';
import type { Step } from './commandArbitrary';
import { scriptCall } from './scriptArbitrary';

/** A step that may be a script; `script` is its name. */
export interface ScriptStep extends Step {
  readonly script?: string;
}

/** Commands that would leave the scripts nothing to do, or do not belong here. */
const unwanted = new Set([
  'MULTI',
  'EXEC',
  'DISCARD',
  'WATCH',
  'UNWATCH',
  'SELECT',
  'FLUSHDB',
  'DEL',
  'UNLINK',
  'SET',
  'RENAME',
]);
const isWanted = ({ client, command }: Step): boolean =>
  client === 0 && !unwanted.has(command[0] ?? '') && command[1] !== 'DESTROY' && command[0] !== 'EXPIRE';
const plainStep = step.filter(isWanted);
const scriptStep = scriptCall.map(({ name, text, args }): ScriptStep => ({
  client: 0,
  command: ['EVAL', text, ...args.map((argument) => argument.toString('latin1'))],
  script: name,
}));

const block = [
  ...['dl.id', '1-1', 'dl.entry', '1-1', 'dl.stream', 's1', 'dl.group', 'g1', 'dl.consumer', 'ann'],
  ...['dl.reason', 'rejected', 'dl.error.type', '', 'dl.error.message', '', 'dl.deliveries', '3'],
  ...['dl.at', '2026-01-01T00:00:00.000Z', 'dl.replays', '1'],
];

/** Six entries, of which the group has read five: counts from 1 to 3, ages of 0, 100 and 300 seconds, one message gone. */
const preparation: readonly ScriptStep[] = [
  ['XADD', 's1', '1-1', 'a', '1'],
  ['XADD', 's1', '2-1', 'a', '2', 'dl.id', '9-9', 'dl.replays', '2'],
  ['XADD', 's1', '3-1', 'b', '3'],
  ['XADD', 's1', '4-1', 'b', '4'],
  ['XADD', 's1', '5-1', 'b', '5'],
  ['XADD', 's1', '6-1', 'b', '6'],
  ['XGROUP', 'CREATE', 's1', 'g1', '0'],
  ['XGROUP', 'CREATE', 's1', 'g2', '3-1'],
  ['XREADGROUP', 'GROUP', 'g1', 'ann', 'COUNT', '4', 'STREAMS', 's1', '>'],
  ['XREADGROUP', 'GROUP', 'g1', 'bob', 'COUNT', '1', 'STREAMS', 's1', '>'],
  ['XREADGROUP', 'GROUP', 'g1', 'ann', 'COUNT', '2', 'STREAMS', 's1', '0'],
  ['XCLAIM', 's1', 'g1', 'ann', '0', '1-1', '5-1', 'IDLE', '100000'],
  ['XCLAIM', 's1', 'g1', 'bob', '0', '2-1', 'IDLE', '300000', 'JUSTID'],
  ['XDEL', 's1', '3-1'],
  ['XADD', 's2', '1-1', 'a', '1', ...block],
  ['XADD', 's2', '2-1', 'a', '1', 'dl.id', '1-1', 'dl.replays', '3'],
  ['XADD', 's2', '4-1', ...block],
].map((command): ScriptStep => ({ client: 0, command }));

/** A prepared stream with pending entries and a dead letter, then commands and scripts. */
export const scriptSequence: fc.Arbitrary<readonly ScriptStep[]> = fc
  .array(fc.oneof({ weight: 1, arbitrary: plainStep }, { weight: 2, arbitrary: scriptStep }), {
    minLength: 1,
    maxLength: 30,
    size: 'max',
  })
  .map((steps) => [...preparation, ...steps]);
