import { deleteEntries, publishEntry, replay } from './actions/entryCommands';
import { openActionLog, showCommand, undoLastAction } from './actions/logCommands';
import { acknowledge, acknowledgeGone, claim, makeReclaimable, moveToDeadLetters } from './actions/pendingCommands';
import { lockWriting, unlockWriting } from './actions/unlock';
import type { CommandServices } from './commandServices';
import {
  addConnection,
  connect,
  disconnect,
  editConnection,
  movePassword,
  openSettings,
  removeConnection,
  showMinimalAcl,
} from './connectionCommands';
import { copyCommands, copyId, copyName, copyPayload } from './copyCommands';
import { createHandlerFile, debugSampleWorker, openHeldMessage, openSampleHandler } from './debugCommands';
import type { CommandHandlers } from './register';
import { copySandboxUrl, resetSandbox, startSandbox, stopSandbox } from './sandboxCommands';
import { findEntry, openEntry, openStream } from './streamCommands';
import { filterStreams, loadMore, refresh, retry, setAutomaticRefresh } from './treeCommands';

/** What each command does, with what it needs. */
export function createCommandHandlers(services: CommandServices): CommandHandlers {
  const bound =
    (run: (services: CommandServices, args: readonly unknown[]) => unknown) =>
    (...args: unknown[]): unknown =>
      run(services, args);
  return {
    'redisStreams.addConnection': bound(addConnection),
    'redisStreams.editConnection': bound(editConnection),
    'redisStreams.removeConnection': bound(removeConnection),
    'redisStreams.connect': bound(connect),
    'redisStreams.disconnect': bound(disconnect),
    'redisStreams.movePassword': bound(movePassword),
    'redisStreams.openSettings': openSettings,
    'redisStreams.openStream': bound(openStream),
    'redisStreams.openEntry': bound(openEntry),
    'redisStreams.copyName': bound(copyName),
    'redisStreams.copyId': bound(copyId),
    'redisStreams.copyPayload': bound(copyPayload),
    'redisStreams.copyCommands': bound(copyCommands),
    'redisStreams.findEntry': bound(findEntry),
    'redisStreams.filterStreams': bound(filterStreams),
    'redisStreams.refresh': bound(refresh),
    'redisStreams.refreshAll': () => {
      services.explorer.refresh(undefined);
    },
    'redisStreams.retry': bound(retry),
    'redisStreams.loadMore': bound(loadMore),
    'redisStreams.setAutomaticRefresh': bound(setAutomaticRefresh),
    'redisStreams.unlockWriting': bound(unlockWriting),
    'redisStreams.lockWriting': bound(lockWriting),
    'redisStreams.makeReclaimable': bound(makeReclaimable),
    'redisStreams.claim': bound(claim),
    'redisStreams.acknowledge': bound(acknowledge),
    'redisStreams.acknowledgeGone': bound(acknowledgeGone),
    'redisStreams.moveToDeadLetters': bound(moveToDeadLetters),
    'redisStreams.replay': bound(replay),
    'redisStreams.publishEntry': bound(publishEntry),
    'redisStreams.deleteEntry': bound(deleteEntries),
    'redisStreams.showCommand': bound(showCommand),
    'redisStreams.undoLastAction': bound(undoLastAction),
    'redisStreams.openActionLog': bound(openActionLog),
    'redisStreams.debugSampleWorker': bound(debugSampleWorker),
    'redisStreams.openSampleHandler': bound(openSampleHandler),
    'redisStreams.createHandlerFile': bound(createHandlerFile),
    'redisStreams.openHeldMessage': bound(openHeldMessage),
    'redisStreams.showMinimalAcl': showMinimalAcl,
    'redisStreams.startSandbox': bound(startSandbox),
    'redisStreams.stopSandbox': bound(stopSandbox),
    'redisStreams.resetSandbox': bound(resetSandbox),
    'redisStreams.copySandboxUrl': bound(copySandboxUrl),
    'redisStreams.openLog': () => {
      services.log.open();
    },
  };
}
