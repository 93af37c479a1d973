import { allScripts } from '../../bus/scripts';
import { deadLetterTwin, replayToGroupTwin, replayTwin } from './deadLetterTwins';
import { removeGroupTwin } from './groupTwins';
import { idempotencyAbandonTwin, idempotencyBeginTwin, idempotencyCompleteTwin } from './idempotencyTwins';
import { recordJournalTwin } from './journalTwins';
import {
  claimDueTwin,
  guardedAcknowledgeTwin,
  guardedClaimTwin,
  handOverTwin,
  heartbeatTwin,
  reapConsumerTwin,
  reclaimTwin,
  recoverOwnTwin,
  releaseTwin,
  retryLaterTwin,
} from './pendingTwins';
import { acknowledgeDeleteTwin, deleteEntriesTwin, publishDeduplicatedTwin, safeTrimTwin } from './streamTwins';
import type { ScriptTwins, Twin } from './twin';

/** The twin of each script, by the script's name; a script without one does not run here, which a test forbids. */
const twins: Readonly<Record<string, Twin>> = {
  acknowledgeDelete: acknowledgeDeleteTwin,
  claimDue: claimDueTwin,
  deadLetter: deadLetterTwin,
  deleteEntries: deleteEntriesTwin,
  guardedAcknowledge: guardedAcknowledgeTwin,
  guardedClaim: guardedClaimTwin,
  handOver: handOverTwin,
  heartbeat: heartbeatTwin,
  idempotencyAbandon: idempotencyAbandonTwin,
  idempotencyBegin: idempotencyBeginTwin,
  idempotencyComplete: idempotencyCompleteTwin,
  publishDeduplicated: publishDeduplicatedTwin,
  reapConsumer: reapConsumerTwin,
  reclaim: reclaimTwin,
  recordJournal: recordJournalTwin,
  recoverOwn: recoverOwnTwin,
  release: releaseTwin,
  removeGroup: removeGroupTwin,
  replay: replayTwin,
  replayToGroup: replayToGroupTwin,
  retryLater: retryLaterTwin,
  safeTrim: safeTrimTwin,
};

/** The twins of the bus's scripts by the hashes of their Lua texts. */
export const busTwins: ScriptTwins = new Map(
  allScripts.flatMap(({ name, readOnly, sha1 }) => {
    const run = twins[name];
    return run ? [[sha1, { name, readOnly, run }] as const] : [];
  }),
);
