import { displayText } from '../base/byteText';
import type { Log } from '../ui/log';
import type { ConnectionState } from './liveConnection';
import type { ConnectionProfile } from './profiles';
import { shownUrl } from './settingProfiles';

/** Writes a change of a connection's state to the log, without secrets. */
export function logState(profile: ConnectionProfile, state: ConnectionState, log: Log): void {
  const name = `${displayText(profile.name)} (${displayText(shownUrl(profile))})`;
  switch (state.kind) {
    case 'connecting':
      log.info(`Connecting to ${name}.`);
      break;
    case 'connected':
      log.info(`Connected to ${name}: ${displayText(`${state.server.kind} ${state.server.version}`)}.`);
      break;
    case 'lost':
      log.warn(`Lost ${name}: ${state.failure.reason}.`);
      break;
    case 'disconnected':
      if (state.failure) log.warn(`Cannot connect to ${name}: ${state.failure.reason}. ${state.failure.message}`);
      else log.info(`Disconnected from ${name}.`);
  }
}
