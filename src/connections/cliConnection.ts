import type { ConnectionProfile } from './profiles';
import { shownUrl } from './settingProfiles';

/**
 * The options by which redis-cli reaches a server. Passwords are never in them: redis-cli asks when the profile has one. Sentinel's
 * master has to be asked for first; its name stands in the place.
 */
export function cliConnection(profile: ConnectionProfile, asksPassword: boolean): readonly string[] {
  const url = shownUrl(profile);
  const isCluster = /^rediss?\+cluster:/i.test(url);
  const plain = url.replace(/^(rediss?)\+(?:cluster|sentinel):/i, '$1:').replace(/,[^/?]*/, '');
  return ['-u', plain, ...(isCluster ? ['-c'] : []), ...(asksPassword ? ['--askpass'] : [])];
}
