/**
 * The registry: every Lua script of the bus. The embedded engine has a twin of each, and `test/unit/busScripts.test.ts` holds their
 * hashes, so that no text changes unnoticed.
 */
import { deadLetter } from './deadLetter';
import { guardedAcknowledge, guardedClaim, handOver, reapConsumer } from './pending';
import { removeGroup } from './group';
import { idempotencyAbandon, idempotencyBegin, idempotencyComplete } from './idempotency';
import { recordJournal } from './journal';
import { replay, replayToGroup } from './replay';
import { heartbeat, release, retryLater } from './settle';
import { acknowledgeDelete, deleteEntries, publishDeduplicated, safeTrim } from './stream';
import { claimDue, reclaim, recoverOwn } from './takeOver';

/** All scripts, in no particular order. */
export const allScripts = [
  acknowledgeDelete,
  claimDue,
  deadLetter,
  deleteEntries,
  guardedAcknowledge,
  guardedClaim,
  handOver,
  heartbeat,
  idempotencyAbandon,
  idempotencyBegin,
  idempotencyComplete,
  publishDeduplicated,
  reapConsumer,
  reclaim,
  recordJournal,
  recoverOwn,
  release,
  removeGroup,
  replay,
  replayToGroup,
  retryLater,
  safeTrim,
] as const;
