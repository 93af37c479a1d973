import { acknowledge } from './acknowledge';
import { claim } from './claim';
import { deleteEntry } from './deleteEntry';
import { launchWorker } from './launchWorker';
import { makeReclaimable } from './makeReclaimable';
import { moveToDeadLetters } from './moveToDeadLetters';
import { publish } from './publish';
import { removeDebugGroup } from './removeDebugGroup';
import { replay } from './replay';
import { replayEntry } from './replayEntry';
import { replayToGroup } from './replayToGroup';
import { restore } from './restore';

/** Every verb there is, by its name; safest first. */
export const verbs = {
  makeReclaimable,
  claim,
  acknowledge,
  moveToDeadLetters,
  replayToGroup,
  replay,
  replayEntry,
  publish,
  deleteEntry,
  restore,
  launchWorker,
  removeDebugGroup,
} as const;

/** One of `verbs`. */
export type AnyVerb = (typeof verbs)[keyof typeof verbs];
