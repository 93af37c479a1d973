import type { Consumer, HandlerLog } from '../../bus';
import type { SettledOutcome } from './lifelineClient';
import { failureDetails, thrownText } from './logLines';
import type { RunLog } from './logLines';

/** Whom the events of a consumer are told besides the log. */
export interface EventTargets {
  /** Gets events when it takes them, else sentences. */
  readonly log: HandlerLog | RunLog;
  readonly settled: (id: string, outcome: SettledOutcome) => void;
  /** The consumer cannot go on. */
  readonly fatal: (error: unknown) => void;
}

/** Writes what becomes of every message, and every trouble once until it changes. */
export function reportEvents(consumer: Consumer, { log, settled, fatal }: EventTargets): void {
  const settledAll = (ids: readonly string[], outcome: SettledOutcome): void => {
    for (const id of ids) settled(id, outcome);
  };
  const { stream, group, name } = consumer;
  const who = { stream, group, consumer: name };
  const tell: RunLog['tell'] = (level, event, details, sentence) => {
    if ('tell' in log) log.tell(level, event, { ...who, ...details }, sentence);
    else log[level](typeof sentence === 'string' ? sentence : sentence());
  };
  const tellEach = (
    level: Parameters<RunLog['tell']>[0],
    event: string,
    ids: readonly string[],
    sentence: string,
  ): void => {
    tell(level, event, ids.length === 1 ? { message_id: ids[0] } : { message_ids: ids }, sentence);
  };
  const isStructured = 'tell' in log && log.isStructured;
  let lastTrouble = '';
  const trouble = (event: string, what: string, error: unknown, details: object = {}): void => {
    const text = `${what}: ${error instanceof Error ? error.message : String(error)}`;
    if (text === lastTrouble) return;
    lastTrouble = text;
    tell('warn', event, { ...details, ...failureDetails(error) }, text);
  };

  if (isStructured) {
    consumer.on('handled', ({ id, deliveries, durationMs, outcome, error }) => {
      const level = outcome === 'completed' || outcome === 'retry-later' ? 'info' : 'warn';
      const failure = outcome === 'completed' ? {} : failureDetails(error);
      const details = { message_id: id, delivery_count: deliveries, duration_ms: durationMs, outcome, ...failure };
      tell(level, 'handled', details, '');
    });
  } else {
    consumer.on('handler-failed', ({ id, deliveries, error }) => {
      log.error(`The handler failed on ${id}, delivery ${deliveries}: ${thrownText(error)}`);
    });
  }
  consumer.on('acknowledged', ({ ids }) => {
    if (isStructured) tellEach('info', 'acknowledged', ids, '');
    else for (const id of ids) log.info(`Acknowledged ${id}`);
    settledAll(ids, 'acknowledged');
  });
  consumer.on('settled-elsewhere', ({ ids, count }) => {
    const text = `${count} of ${ids.join(', ')} were settled by somebody else while their handlers ran`;
    tell('warn', 'settled-elsewhere', { message_ids: ids, count }, text);
  });
  consumer.on('handler-timeout', ({ id, deliveries, timeoutMs }) => {
    const details = { message_id: id, delivery_count: deliveries, timeout_ms: timeoutMs };
    const text = `The handler did not return from ${id} within ${timeoutMs} ms; context.signal asks it to stop`;
    tell('warn', 'handler-timeout', details, text);
  });
  consumer.on('late-result', ({ id }) => {
    const text = `The handler came back from ${id} after it was given up; that result does not count`;
    tell('warn', 'late-result', { message_id: id }, text);
  });
  consumer.on('retry-scheduled', ({ id, deliveries, delayMs }) => {
    const details = { message_id: id, delivery_count: deliveries, delay_ms: delayMs };
    const text = `Delivery ${deliveries + 1} of ${id} comes in ${delayMs} ms`;
    tell('info', 'retry-scheduled', details, text);
    settled(id, 'retry-scheduled');
  });
  consumer.on('dead-lettered', ({ id, deadId, reason, deliveries }) => {
    const details = { message_id: id, dead_id: deadId, reason, delivery_count: deliveries };
    tell('warn', 'dead-lettered', details, `${id} is a dead letter now: ${deadId}, reason ${reason}`);
    settled(id, 'dead-lettered');
  });
  consumer.on('refused', ({ id, deliveries, reason, error }) => {
    const details = { message_id: id, delivery_count: deliveries, reason, ...failureDetails(error) };
    tell('warn', 'refused', details, `${id} is ${reason} and stays pending: there are no dead letters to move it to`);
  });
  consumer.on('dead-letter-failed', ({ ids, error }) => {
    const text = `${ids.join(', ')} cannot be moved to the dead letters, which will be tried again`;
    trouble('dead-letter-failed', text, error, { message_ids: ids });
  });
  consumer.on('settle-failed', ({ ids, error }) => {
    trouble('settle-failed', `${ids.join(', ')} cannot be settled and stay pending`, error, { message_ids: ids });
    settledAll(ids, 'not-settled');
  });
  consumer.on('ownership-lost', ({ id, owner }) => {
    const text = owner === undefined ? `${id} is not pending here any more` : `Consumer ${owner} has taken ${id}`;
    tell('warn', 'ownership-lost', { message_id: id, owner }, text);
    settled(id, 'ownership-lost');
  });
  consumer.on('lost-to-trim', ({ ids }) => {
    const text = `${ids.join(', ')}: deleted or trimmed while pending; nobody gets the message any more`;
    tellEach('warn', 'lost-to-trim', ids, text);
    settledAll(ids, 'message-gone');
  });
  consumer.on('released', ({ ids }) => {
    tellEach('info', 'released', ids, `Gave back ${ids.join(', ')}; the delivery does not count`);
    settledAll(ids, 'released');
  });
  consumer.on('journal-failed', ({ key, error }) => {
    log.warn(`The journal ${key} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  });
  consumer.on('journal-resumed', ({ key, dropped }) => {
    log.info(`The journal ${key} is written again; ${dropped} events are missing in it`);
  });
  consumer.on('heartbeat-failed', ({ error }) => {
    trouble('heartbeat-failed', 'What is held cannot be kept', error);
  });
  consumer.on('reader-failed', ({ error, retryInMs }) => {
    trouble('reader-failed', `Cannot read, next try in ${retryInMs} ms and so on`, error);
  });
  consumer.on('reader-reconnected', () => {
    lastTrouble = '';
    tell('info', 'reader-reconnected', {}, 'Reading again');
  });
  consumer.on('group-recreated', ({ start }) => {
    const text = `The group had vanished and was created again, reading after ${start}`;
    tell('warn', 'group-recreated', { start }, text);
  });
  consumer.on('fatal', ({ error }) => {
    fatal(error);
  });
}
