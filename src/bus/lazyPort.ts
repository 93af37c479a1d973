import { BusError } from './errors';
import type { StreamPort } from './port';

/**
 * A port that connects when it is first used, so that a bus can be made before its server runs. A connection that cannot be made
 * rejects the call that wanted it; the next call tries again.
 */
export function lazyPort(connect: () => Promise<StreamPort>): StreamPort {
  let port: StreamPort | undefined;
  let connecting: Promise<StreamPort> | undefined;
  let isClosed = false;
  const open = (): Promise<StreamPort> => {
    connecting ??= connect().then(
      async (opened) => {
        connecting = undefined;
        if (isClosed) {
          await opened.close();
          throw closedError();
        }
        port = opened;
        return opened;
      },
      (error: unknown) => {
        connecting = undefined;
        throw error;
      },
    );
    return connecting;
  };
  /** Calls at once when connected, so that calls of one tick still travel together. */
  const on = <T>(use: (port: StreamPort) => Promise<T>): Promise<T> => {
    if (port) return use(port);
    return isClosed ? Promise.reject(closedError()) : open().then(use);
  };
  return {
    capabilities: () => on((to) => to.capabilities()),
    serverTimeMs: (...args) => on((to) => to.serverTimeMs(...args)),
    add: (...args) => on((to) => to.add(...args)),
    range: (...args) => on((to) => to.range(...args)),
    length: (...args) => on((to) => to.length(...args)),
    delete: (...args) => on((to) => to.delete(...args)),
    trim: (...args) => on((to) => to.trim(...args)),
    createGroup: (...args) => on((to) => to.createGroup(...args)),
    destroyGroup: (...args) => on((to) => to.destroyGroup(...args)),
    readGroup: (...args) => on((to) => to.readGroup(...args)),
    acknowledge: (...args) => on((to) => to.acknowledge(...args)),
    claim: (...args) => on((to) => to.claim(...args)),
    autoClaim: (...args) => on((to) => to.autoClaim(...args)),
    pending: (...args) => on((to) => to.pending(...args)),
    pendingSummary: (...args) => on((to) => to.pendingSummary(...args)),
    streamInfo: (...args) => on((to) => to.streamInfo(...args)),
    groupInfos: (...args) => on((to) => to.groupInfos(...args)),
    consumerInfos: (...args) => on((to) => to.consumerInfos(...args)),
    run: (script, args) => on((to) => to.run(script, args)),
    openReader: () => on((to) => to.openReader()),
    async close() {
      isClosed = true;
      const opened = port;
      port = undefined;
      await opened?.close();
    },
  };
}

function closedError(): BusError {
  return new BusError('closed', 'The bus was closed; make a new one');
}
