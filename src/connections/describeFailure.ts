/** The one place that turns failures into sentences for people, with what to do next. */
import { displayText } from '../base/byteText';
import type { Localizer } from '../base/localize';
import { BusError } from '../bus';
import type { BusErrorReason } from '../bus';
import { userOf } from './connectionUrl';
import { ConnectionError } from './connectionFailure';
import type { ConnectionFailure, FailureReason, NextStep } from './connectionFailure';
import type { ConnectionProfile } from './profiles';
import { shownAddress } from './settingProfiles';

/** Says why a connection could not be made or was lost. */
export function describeConnectFailure(error: unknown, profile: ConnectionProfile, l10n: Localizer): ConnectionFailure {
  if (ConnectionError.is(error)) return error.failure;
  const reason = BusError.is(error, 'invalid-argument') ? 'bad-url' : reasonOf(error);
  const start = l10n.t('Cannot connect to {0} ({1})', displayText(profile.name), displayText(shownAddress(profile)));
  return failure(reason, `${start}: ${connectCause(error, reason, profile, l10n)}`, l10n);
}

/** Says why something could not be read. `what` completes "Cannot read …", such as `groups of orders`. */
export function describeReadFailure(
  error: unknown,
  what: string,
  profile: ConnectionProfile,
  l10n: Localizer,
): ConnectionFailure {
  if (ConnectionError.is(error)) return error.failure;
  const reason = reasonOf(error);
  const start = l10n.t('Cannot read {0} on {1}', what, displayText(profile.name));
  return failure(reason, `${start}: ${readCause(error, reason, profile, l10n)}`, l10n);
}

/** A BusError's reason; anything else that was thrown is a fault of ours or a cancellation. */
export function reasonOf(error: unknown): FailureReason {
  if (BusError.is(error)) return error.reason;
  if (ConnectionError.is(error)) return error.reason;
  return error instanceof Error && error.name === 'AbortError' ? 'cancelled' : 'unexpected';
}

/** The reasons after which a link is of no use any more. */
export const linkFailures: ReadonlySet<FailureReason> = new Set<FailureReason>([
  'connection-lost',
  'connection-refused',
  'closed',
  'timeout',
]);

function failure(reason: FailureReason, message: string, l10n: Localizer): ConnectionFailure {
  const nextStep = nextSteps[reason]?.(l10n);
  return { reason, message, retriable: isRetriable(reason), ...(nextStep ? { nextStep } : {}) };
}

/** Whether pressing Retry makes sense: nearly always, since people repair servers, users and keys in between. */
function isRetriable(reason: FailureReason): boolean {
  return reason !== 'bad-url' && reason !== 'unknown-command';
}

const nextSteps: Readonly<Partial<Record<FailureReason, (l10n: Localizer) => NextStep>>> = {
  authentication: (l10n) => ({ title: l10n.t('Edit Connection…'), command: 'redisStreams.editConnection' }),
  'bad-url': (l10n) => ({ title: l10n.t('Edit Connection…'), command: 'redisStreams.editConnection' }),
  tls: (l10n) => ({ title: l10n.t('Edit Connection…'), command: 'redisStreams.editConnection' }),
  'not-redis': (l10n) => ({ title: l10n.t('Edit Connection…'), command: 'redisStreams.editConnection' }),
  'no-permission': (l10n) => ({ title: l10n.t('Show Minimal ACL'), command: 'redisStreams.showMinimalAcl' }),
  unexpected: (l10n) => ({ title: l10n.t('Open Log'), command: 'redisStreams.openLog' }),
  server: (l10n) => ({ title: l10n.t('Open Log'), command: 'redisStreams.openLog' }),
  protocol: (l10n) => ({ title: l10n.t('Open Log'), command: 'redisStreams.openLog' }),
};

function connectCause(error: unknown, reason: FailureReason, profile: ConnectionProfile, l10n: Localizer): string {
  const user = displayText(userOf(profile.url) ?? 'default');
  // A command that got an answer tells more than the reason alone.
  const command = BusError.is(error) ? error.details.command?.toUpperCase() : undefined;
  switch (reason) {
    case 'bad-url':
      return l10n.t(
        'its URL cannot be used. It should read redis://user@host:port/db, with /, ?, # and @ of a name or password percent-encoded.',
      );
    case 'connection-refused':
      if (command !== undefined)
        return l10n.t('the server takes no more clients. Try again when some have left, or raise its maxclients.');
      return l10n.t('nothing answers there. Check that the server runs and that host and port are right.');
    case 'timeout':
      return l10n.t('it did not answer in time. Check the address, and whether a firewall or VPN is in between.');
    case 'authentication':
      if (command !== undefined && command !== 'AUTH')
        return l10n.t('the server asks for the password of user {0}. Enter it.', user);
      return l10n.t('the server refused the password of user {0}. Enter it again.', user);
    case 'no-permission':
      return l10n.t('user {0} may not run what browsing needs. Ask for the minimal ACL.', user);
    case 'tls':
      return l10n.t(
        'TLS failed. Use rediss:// for a TLS port and redis:// for a plain one, and check the certificate.',
      );
    case 'not-redis':
      return l10n.t('what answers there is not Redis. Check the port.');
    case 'connection-lost':
    case 'closed':
      return l10n.t('the link broke. The server may be restarting, or something in between closes it.');
    case 'loading':
      return l10n.t('the server is still loading its data. Try again in a moment.');
    case 'unexpected':
      return l10n.t('something went wrong in the extension. The log has more.');
    default:
      if (command === 'SELECT')
        return l10n.t('the server has no database with this number. Check the number at the end of the URL.');
      return l10n.t('the server answered with an error of kind {0}. The log has more.', reason);
  }
}

function readCause(error: unknown, reason: FailureReason, profile: ConnectionProfile, l10n: Localizer): string {
  const command = BusError.is(error) ? error.details.command?.toUpperCase() : undefined;
  const simple = readCauses[reason];
  if (simple) return simple(l10n);
  switch (reason) {
    case 'no-permission':
      return command === undefined
        ? l10n.t('the user {0} has no permission.', displayText(userOf(profile.url) ?? 'default'))
        : l10n.t('the user {0} has no {1} permission.', displayText(userOf(profile.url) ?? 'default'), command);
    case 'unexpected':
      return l10n.t('something went wrong in the extension. The log has more.');
    default:
      return command === undefined
        ? l10n.t('the server answered with an error of kind {0}.', reason)
        : l10n.t('{0} failed with an error of kind {1}.', command, reason);
  }
}

const readCauses: Readonly<Partial<Record<FailureReason | BusErrorReason, (l10n: Localizer) => string>>> = {
  'no-key': (l10n) => l10n.t('the key is gone. It was deleted, expired or evicted.'),
  'no-group': (l10n) => l10n.t('the group is gone. It was destroyed, or its stream was deleted.'),
  'wrong-type': (l10n) => l10n.t('the key is not a stream any more.'),
  'connection-lost': (l10n) => l10n.t('the link broke while it was read.'),
  'connection-refused': (l10n) => l10n.t('nothing answers there any more.'),
  closed: (l10n) => l10n.t('the connection was closed.'),
  timeout: (l10n) => l10n.t('the server did not answer in time.'),
  loading: (l10n) => l10n.t('the server is loading its data.'),
  cancelled: (l10n) => l10n.t('it was cancelled.'),
  'unknown-command': (l10n) => l10n.t('the server does not know the command.'),
};
