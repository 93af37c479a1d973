import { pino, stdTimeFunctions } from 'pino';
import type { RunLog } from '../run/logLines';

/**
 * Lines of JSON on stdout by pino: `level`, `time`, `pid`, `hostname`, `msg` and what the line is about. Written at once and without
 * transports, which need files of their own beside the bundle; nothing is lost when the process ends.
 */
export function jsonLog(): RunLog {
  const logger = pino(
    { timestamp: stdTimeFunctions.isoTime, formatters: { level: (level) => ({ level }) } },
    pino.destination({ fd: 1, sync: true }),
  );
  return {
    isStructured: true,
    info: (message, details) => {
      logger.info(details ?? {}, message);
    },
    warn: (message, details) => {
      logger.warn(details ?? {}, message);
    },
    error: (message, details) => {
      logger.error(details ?? {}, message);
    },
    tell: (level, event, details) => {
      logger[level](details, event);
    },
  };
}
