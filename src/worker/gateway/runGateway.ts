/**
 * `gateway`: the way into the runs application over HTTP, with the sweeper and, when asked, with workers in the same process.
 *
 * Its tests are in `test/worker/gateway*.test.ts`.
 */
import { systemClock } from '../../base/clock';
import { AppLife, PartsTogether } from '../app/appLife';
import { abortGraceMs } from '../app/appOptions';
import { startMonitoring } from '../app/monitoring';
import { openApplication } from '../app/openApplication';
import { startWorker } from '../app/workers';
import { createLogLines } from '../run/logLines';
import { createGatewayApp } from './gatewayApp';
import type { GatewayOptions } from './gatewayOptions';
import { serveHttp } from './httpServer';
import { RateLimiter } from './rateLimiter';

/** Serves until it is told to end, then ends the process with one of `exitCodes`. */
export async function runGateway(options: GatewayOptions): Promise<never> {
  const log = await createLogLines(options.log);
  const life = new AppLife(log, options.closeMs + abortGraceMs);
  return life.run(async () => {
    let isListening = false;
    const monitoring = life.add(await startMonitoring(options, log, { isReady: () => isListening }));
    const opening = { clientName: 'redis-streams-gateway', log, monitoring };
    const { execute, parts, marker } = await openApplication(life, options, opening);
    const { bus, store } = parts;
    // A client that stalls, or one slow run, leaves the others as much time as it has itself.
    const busy = life.add(new PartsTogether());
    const workersLife: Pick<AppLife, 'add' | 'fail'> = {
      add: (part) => busy.add(part),
      fail: (exitCode, message) => {
        life.fail(exitCode, message);
      },
    };
    const { consumer, consumerOptions } = options.workersOptions;
    for (let index = 1; index <= options.workers; index += 1) {
      await startWorker(workersLife, parts, marker, execute, {
        name: options.workers === 1 ? consumer : `${consumer}-${index}`,
        consumerOptions,
        closeMs: options.closeMs,
        monitoring,
      });
    }
    const app = createGatewayApp({
      store,
      bus,
      log,
      token: options.token,
      limiter:
        options.ratePerMinute === 0
          ? undefined
          : new RateLimiter({ perMinute: options.ratePerMinute, clock: systemClock() }),
      maxBodyBytes: options.maxBodyBytes,
    });
    const http = await serveHttp(app, options.host, options.port);
    isListening = true;
    busy.add({
      close: () => {
        isListening = false;
        return http.close(options.closeMs);
      },
    });
    const where = `${bus.keyOf('koda:runs')}, store ${store.kind}`;
    log.info(`Gateway: ${http.url} (stream ${where}${options.token === undefined ? '' : ', bearer token needed'})`);
  });
}
