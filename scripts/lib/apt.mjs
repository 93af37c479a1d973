// Debian packages that a test tier needs: says what it installs and why, and installs it when it may (root, or sudo
// without a password). Anywhere else it fails with what to install by hand. A service that a package brings is not
// started: while the installation runs a policy-rc.d forbids it. Tested by every run on a bare machine.
// @ts-check

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** @typedef {(line: string) => void} Log */

const installScript = `
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' INT TERM
  printf '#!/bin/sh\\nexit 101\\n' > "$policy"
  chmod 755 "$policy"
fi
install() {
  apt-get -y -q --no-install-recommends -o DPkg::Lock::Timeout=600 install "$@"
}
install "$@" || { apt-get -q -o DPkg::Lock::Timeout=600 update && install "$@"; }
`;

/**
 * What to put before a command so that it may install packages, or why nothing may be installed here.
 * @returns {{ prefix: string[] } | { reason: string }}
 */
export function packageRights() {
  if (process.platform !== 'linux' || !existsSync('/usr/bin/apt-get')) {
    return { reason: `this is ${process.platform} without apt-get` };
  }
  if (process.getuid?.() === 0) return { prefix: [] };
  const sudo = spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' });
  if (sudo.status === 0) return { prefix: ['sudo', '-n'] };
  return { reason: 'this user is neither root nor allowed to sudo without a password' };
}

/**
 * Installs Debian packages, or throws an error that says what is missing and how to install it.
 * @param {string[]} packages
 * @param {{ why: string, byHand: string, log?: Log }} options `why` completes "Installing redis-server: ...";
 *   `byHand` is the next step for a person where apt may not be used
 */
export function installPackages(packages, { why, byHand, log = console.log }) {
  const rights = packageRights();
  if ('reason' in rights) {
    throw new Error(`${packages.join(', ')} is missing (${why}) and cannot be installed: ${rights.reason}. ${byHand}`);
  }
  log(`Installing ${packages.join(', ')} with apt: ${why}.`);
  const [command = '', ...args] = [
    ...rights.prefix,
    'env',
    'DEBIAN_FRONTEND=noninteractive',
    'sh',
    '-c',
    installScript,
    'install',
    ...packages,
  ];
  const run = spawnSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  if (run.status === 0) return;
  const lastLines = `${run.stdout}${run.stderr}`.trim().split('\n').slice(-8).join('\n');
  throw new Error(`apt-get could not install ${packages.join(', ')} (${why}). ${byHand}\n${lastLines}`);
}
