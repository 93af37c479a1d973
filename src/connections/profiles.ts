/**
 * connections: which servers the user named, how they are reached, and what may be done there. Profiles, secrets, live connections;
 * later the write gate. It knows nothing of the tree or the panels. Its tests are in `test/unit/connections` and `test/bus`.
 *
 * This file: what a connection profile is. A profile never holds a secret.
 */

declare const brand: unique symbol;

/** The id of a connection profile; stable across sessions and safe in tree ids. */
export type ConnectionId = string & { readonly [brand]: 'ConnectionId' };

/** Names a connection profile. */
export const connectionId = (text: string): ConnectionId => text as ConnectionId;

/** What a mistake on this server would cost, safest first; decides the colour and how careful the extension is. */
export const environments = ['local', 'development', 'staging', 'production'] as const;

/** One of `environments`. */
export type Environment = (typeof environments)[number];

/** Where a profile comes from: stored by Add Connection, the user's settings, the workspace's settings, or the running sandbox. */
export type ProfileSource = 'saved' | 'user setting' | 'workspace' | 'sandbox';

/** A server that the user named. */
export interface ConnectionProfile {
  readonly id: ConnectionId;
  readonly name: string;
  /** Without a password, always. May hold `${env:NAME}` when it comes from the user's settings. */
  readonly url: string;
  readonly environment: Environment;
  readonly source: ProfileSource;
}

/** Tells whether a value names an environment. */
export function isEnvironment(value: unknown): value is Environment {
  return environments.some((environment) => environment === value);
}

/** The theme colour of an environment, the same in the tree, in panels and in the status bar. */
export function environmentColor(environment: Environment): string {
  return environmentColors[environment];
}

const environmentColors: Readonly<Record<Environment, string>> = {
  local: 'charts.green',
  development: 'charts.blue',
  staging: 'charts.orange',
  production: 'charts.red',
};
