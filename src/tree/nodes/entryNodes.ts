/** The leaves that stand for one entry. */
import { displayText } from '../../base/byteText';
import type { StreamKey } from '../../bus';
import type { DeadLetterFacts, PendingFacts } from '../facts';
import { deliveriesText, idleText, joinFacts } from '../phrases';
import type { Row } from '../row';
import { deadLetterTooltip, pendingTooltip } from '../tooltips';
import { childId, TreeNode } from '../treeNode';
import type { TreeContext } from '../treeContext';
import { manyDeliveries } from '../verdicts';
import type { ConsumerNode } from './consumerNode';
import type { DeadLettersNode } from './deadLettersNode';

/** A pending entry of a consumer. */
export class PendingNode extends TreeNode {
  constructor(
    override readonly parent: ConsumerNode,
    public facts: PendingFacts,
    context: TreeContext,
  ) {
    super(childId(parent.id, 'pending', facts.id), parent, context);
  }

  get streamKey(): StreamKey {
    return this.parent.parent.parent.facts.key;
  }

  row(): Row {
    const { l10n } = this.context;
    const { id, deliveryCount, idleMs, isGone } = this.facts;
    const isHeld = this.isHeldByDebugger();
    const description = joinFacts(
      deliveriesText(deliveryCount, this.context),
      isHeld ? l10n.t('held by debugger') : idleText(idleMs, this.context),
      isGone ? l10n.t('message gone') : undefined,
    );
    return {
      kind: 'pending',
      flags: isGone ? ['gone'] : [],
      label: id,
      description,
      icon: isHeld ? { id: 'debug' } : pendingIcon(this.facts),
      children: 'none',
      tooltip: pendingTooltip(this.facts, this.context),
      accessibilityLabel: l10n.t('Pending entry {0}, {1}', id, description),
      command: 'redisStreams.openEntry',
    };
  }

  private isHeldByDebugger(): boolean {
    const group = this.parent.parent;
    const { profile, facts } = group.parent;
    return this.context.held?.isHeld(profile.id, facts.key, group.facts.name, this.facts.id) ?? false;
  }
}

/** A dead letter of a stream. */
export class DeadLetterNode extends TreeNode {
  constructor(
    override readonly parent: DeadLettersNode,
    public facts: DeadLetterFacts,
    context: TreeContext,
  ) {
    super(childId(parent.id, 'deadLetter', facts.id), parent, context);
  }

  /** The stream that the dead letter is an entry of. */
  get streamKey(): StreamKey {
    return this.parent.facts.key;
  }

  row(): Row {
    const { l10n } = this.context;
    const { id, reason, errorMessage } = this.facts;
    const description = joinFacts(shortened(reason), shortened(errorMessage));
    return {
      kind: 'deadLetter',
      flags: [],
      label: id,
      description: description === '' ? l10n.t('reason unknown') : description,
      icon: { id: 'circle-slash' },
      children: 'none',
      tooltip: deadLetterTooltip(this.facts, this.context),
      accessibilityLabel: l10n.t('Dead letter {0}, {1}', id, description),
      command: 'redisStreams.openEntry',
    };
  }
}

function pendingIcon({ isGone, deliveryCount }: PendingFacts): Row['icon'] {
  if (isGone) return { id: 'trash' };
  return deliveryCount >= manyDeliveries ? { id: 'warning', color: 'list.warningForeground' } : { id: 'watch' };
}

/** Texts of a dead letter come from anywhere; a row shows their beginning. */
function shortened(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const shown = displayText(text.slice(0, 200));
  return text.length > 200 ? `${shown}…` : shown;
}
