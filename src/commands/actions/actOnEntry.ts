import { entryId, groupName, readCompanionKey } from '../../bus';
import type { StreamKey } from '../../bus';
import type { LiveConnection } from '../../connections/liveConnection';
import type { EntryAction } from '../../protocol/streamPanel';
import type { CommandServices } from '../commandServices';
import { deleteOf, replayDeadLetters, replayEntries } from './entryCommands';
import { acknowledgeOf, claimOf, makeReclaimableOf, moveOf } from './pendingCommands';

/** Does what a panel's button asks for, with the questions of the commands. */
export async function actOnEntry(
  services: CommandServices,
  connection: LiveConnection,
  stream: StreamKey,
  action: EntryAction,
): Promise<void> {
  const id = entryId(action.id);
  const owner = services.explorer.model.nodeOf(connection);
  const refresh = (): void => {
    services.explorer.refresh(owner);
  };
  if ('group' in action) {
    const place = { stream, group: groupName(action.group), select: { ids: [id] } };
    const run = {
      makeReclaimable: makeReclaimableOf,
      claim: claimOf,
      acknowledge: acknowledgeOf,
      moveToDeadLetters: moveOf,
    };
    await run[action.verb](services, { connection, places: [place], nodes: [owner] }, {});
    return;
  }
  if (action.verb === 'delete') {
    await deleteOf(services, connection, stream, [id], refresh, {});
    return;
  }
  const found = await connection.read(async (inspect) => {
    const entry = await inspect.entryById(stream, id);
    return entry && inspect.readDeadLetter(entry);
  });
  const companion = readCompanionKey(stream);
  const origin = found?.failure.stream ?? companion?.streams[0];
  if (found && origin !== undefined && (found.form === 'block' || companion?.kind === 'dlq')) {
    const letters = [{ id, group: found.failure.group }];
    await replayDeadLetters(services, { connection, owner, deadLetters: stream, stream: origin, letters, refresh }, {});
  } else await replayEntries(services, { connection, owner, stream, ids: [id], refresh }, {});
}
