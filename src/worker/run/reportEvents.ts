import type { Consumer, HandlerLog } from '../../bus';
import type { SettledOutcome } from './lifelineClient';
import { thrownText } from './logLines';

/** Whom the events of a consumer are told besides the log. */
export interface EventTargets {
  readonly log: HandlerLog;
  readonly settled: (id: string, outcome: SettledOutcome) => void;
  /** The consumer cannot go on. */
  readonly fatal: (error: unknown) => void;
}

/** Writes what becomes of every message, and every trouble once until it changes. */
export function reportEvents(consumer: Consumer, { log, settled, fatal }: EventTargets): void {
  const settledAll = (ids: readonly string[], outcome: SettledOutcome): void => {
    for (const id of ids) settled(id, outcome);
  };
  let lastTrouble = '';
  const trouble = (what: string, error: unknown): void => {
    const text = `${what}: ${error instanceof Error ? error.message : String(error)}`;
    if (text === lastTrouble) return;
    lastTrouble = text;
    log.warn(text);
  };

  consumer.on('acknowledged', ({ ids }) => {
    for (const id of ids) log.info(`Acknowledged ${id}`);
    settledAll(ids, 'acknowledged');
  });
  consumer.on('settled-elsewhere', ({ ids, count }) => {
    log.warn(`${count} of ${ids.join(', ')} were settled by somebody else while their handlers ran`);
  });
  consumer.on('handler-failed', ({ id, deliveries, error }) => {
    log.error(`The handler failed on ${id}, delivery ${deliveries}: ${thrownText(error)}`);
  });
  consumer.on('handler-timeout', ({ id, timeoutMs }) => {
    log.warn(`The handler did not return from ${id} within ${timeoutMs} ms; context.signal asks it to stop`);
  });
  consumer.on('late-result', ({ id }) => {
    log.warn(`The handler came back from ${id} after it was given up; that result does not count`);
  });
  consumer.on('retry-scheduled', ({ id, deliveries, delayMs }) => {
    log.info(`${id} will be delivered again in ${delayMs} ms; it was delivered ${deliveries} times`);
    settled(id, 'retry-scheduled');
  });
  consumer.on('dead-lettered', ({ id, deadId, reason }) => {
    log.warn(`${id} is a dead letter now: ${deadId}, reason ${reason}`);
    settled(id, 'dead-lettered');
  });
  consumer.on('dead-letter-failed', ({ ids, error }) => {
    trouble(`${ids.join(', ')} cannot be moved to the dead letters, which will be tried again`, error);
  });
  consumer.on('settle-failed', ({ ids, error }) => {
    trouble(`${ids.join(', ')} cannot be settled and stay pending`, error);
    settledAll(ids, 'not-settled');
  });
  consumer.on('ownership-lost', ({ id, owner }) => {
    log.warn(owner === undefined ? `${id} is not pending here any more` : `Consumer ${owner} has taken ${id}`);
    settled(id, 'ownership-lost');
  });
  consumer.on('lost-to-trim', ({ ids }) => {
    log.warn(`${ids.join(', ')}: deleted or trimmed while pending; nobody gets the message any more`);
    settledAll(ids, 'message-gone');
  });
  consumer.on('released', ({ ids }) => {
    log.info(`Gave back ${ids.join(', ')}; the delivery does not count`);
    settledAll(ids, 'released');
  });
  consumer.on('heartbeat-failed', ({ error }) => {
    trouble('What is held cannot be kept', error);
  });
  consumer.on('reader-failed', ({ error, retryInMs }) => {
    trouble(`Cannot read, next try in ${retryInMs} ms and so on`, error);
  });
  consumer.on('reader-reconnected', () => {
    lastTrouble = '';
    log.info('Reading again');
  });
  consumer.on('group-recreated', ({ start }) => {
    log.warn(`The group had vanished and was created again, reading after ${start}`);
  });
  consumer.on('fatal', ({ error }) => {
    fatal(error);
  });
}
