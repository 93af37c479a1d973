// Sequences of ordinary commands and scripts.
import fc from 'fast-check';
import { preparation, step } from './commandArbitrary';
import type { Step } from './commandArbitrary';
import { scriptCall } from './scriptArbitrary';

/** A step that may be a script; `script` is its name. */
export interface ScriptStep extends Step {
  readonly script?: string;
}

const transactions = new Set(['MULTI', 'EXEC', 'DISCARD', 'WATCH', 'UNWATCH', 'SELECT']);
const plainStep = step.filter(({ client, command }) => client === 0 && !transactions.has(command[0] ?? ''));
const scriptStep = scriptCall.map(({ name, text, args }): ScriptStep => ({
  client: 0,
  command: ['EVAL', text, ...args.map((argument) => argument.toString('latin1'))],
  script: name,
}));

const deadLetter: ScriptStep = {
  client: 0,
  command: [
    ...['XADD', 's2', '4-1', 'a', '1', 'dl.id', '1-1', 'dl.entry', '1-1', 'dl.stream', 's1', 'dl.group', 'g1'],
    ...['dl.consumer', 'ann', 'dl.reason', 'rejected', 'dl.error.type', '', 'dl.error.message', ''],
    ...['dl.deliveries', '3', 'dl.at', '2026-01-01T00:00:00.000Z', 'dl.replays', '1'],
  ],
};

/** A prepared stream with pending entries and a dead letter, then commands and scripts. */
export const scriptSequence: fc.Arbitrary<readonly ScriptStep[]> = fc
  .array(fc.oneof<[fc.Arbitrary<ScriptStep>, fc.Arbitrary<ScriptStep>]>(plainStep, scriptStep), {
    minLength: 1,
    maxLength: 30,
    size: 'max',
  })
  .map((steps) => [...preparation, deadLetter, ...steps]);
