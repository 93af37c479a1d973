/** The commands on pending entries. */
import * as vscode from 'vscode';
import { displayText } from '../../base/byteText';
import { acknowledge as acknowledgeVerb } from '../../connections/verbs/acknowledge';
import { claim as claimVerb } from '../../connections/verbs/claim';
import { makeReclaimable as makeReclaimableVerb } from '../../connections/verbs/makeReclaimable';
import { moveToDeadLetters as moveVerb } from '../../connections/verbs/moveToDeadLetters';
import type { GuardChoice, PendingItem, PendingRequest } from '../../connections/verbs/pendingRows';
import type { Verb } from '../../connections/verbs/verb';
import { pickOne, promptText } from '../../ui/pickers';
import type { CommandServices } from '../commandServices';
import { act } from './act';
import { chooseConsumer, pendingTargets } from './pickTargets';
import type { PendingPlace, PendingTargets } from './pickTargets';

/** How a command was called besides its arguments. */
export interface CallOptions {
  readonly copyOnly?: boolean;
}

/** Lets the group's own reclaimer take entries at once. */
export async function makeReclaimable(
  services: CommandServices,
  args: readonly unknown[],
  options: CallOptions = {},
): Promise<void> {
  const targets = await pendingTargets(services, args, vscode.l10n.t('Make Reclaimable'), 'whole');
  if (targets) await makeReclaimableOf(services, targets, options);
}

/** Gives entries to another consumer. */
export async function claim(
  services: CommandServices,
  args: readonly unknown[],
  options: CallOptions = {},
): Promise<void> {
  const targets = await pendingTargets(services, args, vscode.l10n.t('Claim'), 'whole');
  if (targets) await claimOf(services, targets, options);
}

/** Acknowledges entries. */
export async function acknowledge(
  services: CommandServices,
  args: readonly unknown[],
  options: CallOptions = {},
): Promise<void> {
  const targets = await pendingTargets(services, args, vscode.l10n.t('Acknowledge'), 'single');
  if (targets) await acknowledgeOf(services, targets, options);
}

/** Acknowledges every pending entry of a group or consumer whose message is gone. */
export async function acknowledgeGone(
  services: CommandServices,
  args: readonly unknown[],
  options: CallOptions = {},
): Promise<void> {
  const targets = await pendingTargets(services, args, vscode.l10n.t('Acknowledge Gone Entries'), 'gone');
  if (targets) await acknowledgeOf(services, targets, options);
}

/** Moves entries to the dead letters, with a reason. */
export async function moveToDeadLetters(
  services: CommandServices,
  args: readonly unknown[],
  options: CallOptions = {},
): Promise<void> {
  const targets = await pendingTargets(services, args, vscode.l10n.t('Move to Dead Letters'), 'single');
  if (targets) await moveOf(services, targets, options);
}

/** The same for targets that are known. */
export async function makeReclaimableOf(
  services: CommandServices,
  targets: PendingTargets,
  options: CallOptions,
): Promise<void> {
  await actOnPending(services, targets, makeReclaimableVerb, (place, guard) => ({ ...place, guard }), options);
}

/** The same for targets that are known. */
export async function claimOf(services: CommandServices, targets: PendingTargets, options: CallOptions): Promise<void> {
  const title = vscode.l10n.t('Claim');
  const [place] = targets.places;
  if (!place) return;
  const consumer = await chooseConsumer(targets.connection, place, title);
  if (consumer === undefined) return;
  const count = await pickOne<'keep' | 'increment'>(
    title,
    vscode.l10n.t('Does it count as a delivery to {0}?', displayText(consumer)),
    [
      {
        label: vscode.l10n.t('Keep the delivery count'),
        description: vscode.l10n.t('nothing is delivered by a claim'),
        value: 'keep',
      },
      {
        label: vscode.l10n.t('Count it as a delivery'),
        description: vscode.l10n.t('as a worker that reclaims does'),
        value: 'increment',
      },
    ],
  );
  if (count === undefined) return;
  await actOnPending(services, targets, claimVerb, (each, guard) => ({ ...each, guard, consumer, count }), options);
}

/** The same for targets that are known. */
export async function acknowledgeOf(
  services: CommandServices,
  targets: PendingTargets,
  options: CallOptions,
): Promise<void> {
  await actOnPending(services, targets, acknowledgeVerb, (place, guard) => ({ ...place, guard }), options);
}

/** The same for targets that are known. */
export async function moveOf(services: CommandServices, targets: PendingTargets, options: CallOptions): Promise<void> {
  const reason = await promptText({
    title: vscode.l10n.t('Move to Dead Letters'),
    prompt: vscode.l10n.t('Why? It is kept with the dead letter, at most 1 KiB of it.'),
    placeholder: vscode.l10n.t('poison: the address is missing'),
  });
  if (reason === undefined) return;
  await actOnPending(services, targets, moveVerb, (place, guard) => ({ ...place, guard, reason }), options);
}

async function actOnPending<Request extends PendingRequest, Item extends PendingItem>(
  services: CommandServices,
  { connection, places, nodes }: PendingTargets,
  verb: Verb<Request, Item>,
  requestOf: (place: PendingPlace, guard: GuardChoice) => Request,
  { copyOnly = false }: CallOptions,
): Promise<void> {
  await act(services, {
    connection,
    verb,
    copyOnly,
    requests: places.map((place) => requestOf(place, 'strict')),
    relaxed: (atLeast) => places.map((place) => requestOf(place, { atLeast })),
    onDone: () => {
      for (const node of nodes) services.explorer.refresh(node);
    },
  });
}
