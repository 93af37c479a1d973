/** MULTI and what belongs to it. */
import { ok, replyError } from '../reply';
import type { CommandHandlers } from './command';

export const transactionCommands: CommandHandlers = {
  multi(_engine, session) {
    if (session.transaction) throw replyError('MULTI calls can not be nested');
    session.transaction = { queue: [], isBroken: false };
    return ok;
  },
  exec: (engine, session) => engine.executeTransaction(session),
  discard(engine, session) {
    if (!session.transaction) throw replyError('DISCARD without MULTI');
    engine.discardTransaction(session);
    return ok;
  },
  watch(engine, session, args) {
    if (session.transaction) throw replyError('WATCH inside MULTI is not allowed');
    if (session.isWatchBroken) return ok;
    for (let i = 1; i < args.count; i++) engine.watch(session, args.text(i));
    return ok;
  },
  unwatch(engine, session) {
    engine.unwatch(session);
    return ok;
  },
};
