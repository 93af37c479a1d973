import { BusError } from '../errors';
import { PublishError } from '../publish/publishError';

/**
 * The kind of a failure as telemetry tells it: the reason of our own errors, else the name of the error's class. Never its message. What throws
 * when it is read, such as a proxy, is an `Error`.
 */
export function errorKind(error: unknown): string {
  try {
    return kindOf(error);
  } catch {
    return 'Error';
  }
}

function kindOf(error: unknown): string {
  if (BusError.is(error) || PublishError.is(error)) return error.reason;
  if (typeof error !== 'object' || error === null) return typeof error;
  const { name } = error as { name?: unknown };
  // A name that is no identifier is no class's name, and may be anything.
  return typeof name === 'string' && /^[A-Za-z_$][\w$]{0,59}$/.test(name) ? name : 'Error';
}
