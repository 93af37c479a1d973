import { DatabaseError, StoreUnavailableError } from './runStore';

/** Classes of SQLSTATE after which the same statement may succeed: connection, rollback, resources, operator, a standby for a while. */
const passingClasses = ['08', '25', '40', '53', '57'];

/** The failure as a `StoreUnavailableError` when asking again may help, else as it is. */
export function asStoreFailure(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof TypeError || error instanceof RangeError) return error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  // The server's own errors have a severity; without one the link failed, or none could be had.
  const isServers = 'severity' in error;
  if (isServers && !passingClasses.includes(code?.slice(0, 2) ?? '')) return error;
  const why = error.message === '' ? (code ?? 'no connection') : error.message;
  return new StoreUnavailableError(`The database does not answer: ${why}`, { cause: error });
}

/** Why a database could not be opened, as a sentence without its URL. */
export function asDatabaseError(error: unknown): DatabaseError {
  const why = error instanceof Error && error.message !== '' ? error.message : codeOf(error);
  return new DatabaseError(`The database of DATABASE_URL cannot be used: ${why}`, { cause: error });
}

/** Node leaves the message empty when several addresses of a host refused; the code tells then. */
function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
}
