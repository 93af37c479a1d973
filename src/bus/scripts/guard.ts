import { consumerName } from '../ids';
import type { ConsumerName } from '../ids';
import { textOf } from './reply';
import type { RawReply, ScriptArgument } from './script';

/**
 * What must still be true of a pending entry for a script to change it. Everything left out is not checked.
 *
 * The times are the server's; `deliveredUntilMs` refuses an entry that was delivered, claimed or heartbeaten after that moment.
 */
export interface PendingGuard {
  readonly owner?: ConsumerName;
  readonly minIdleMs?: number;
  readonly deliveries?: { readonly exactly: number } | { readonly atLeast: number };
  readonly deliveredUntilMs?: number;
}

/** Why a script left an entry as it was: what it found instead of what the guard wanted. */
export type GuardRefusal =
  | { readonly status: 'not-pending' }
  | { readonly status: 'owner-changed'; readonly owner: ConsumerName }
  | { readonly status: 'too-fresh'; readonly idleMs: number }
  | { readonly status: 'deliveries-changed'; readonly deliveries: number }
  | { readonly status: 'too-few-deliveries'; readonly deliveries: number }
  | { readonly status: 'delivered-later'; readonly deliveredAtMs: number };

/** The four arguments that `refusal` of `luaGuard` reads. */
export function guardArguments(guard: PendingGuard): readonly ScriptArgument[] {
  const { deliveries } = guard;
  const wanted =
    deliveries === undefined
      ? '*'
      : 'exactly' in deliveries
        ? `=${String(deliveries.exactly)}`
        : `>${String(deliveries.atLeast)}`;
  return [
    guard.owner === undefined ? '*' : `=${guard.owner}`,
    guard.minIdleMs ?? 0,
    wanted,
    guard.deliveredUntilMs ?? '*',
  ];
}

/** Reads a refusal; undefined when the status is none of them. */
export function readRefusal(status: string, detail: RawReply | undefined): GuardRefusal | undefined {
  switch (status) {
    case 'not-pending':
      return { status };
    case 'owner-changed':
      return { status, owner: consumerName(textOf(detail)) };
    case 'too-fresh':
      return { status, idleMs: Number(textOf(detail)) };
    case 'deliveries-changed':
    case 'too-few-deliveries':
      return { status, deliveries: Number(textOf(detail)) };
    case 'delivered-later':
      return { status, deliveredAtMs: Number(textOf(detail)) };
    default:
      return undefined;
  }
}
