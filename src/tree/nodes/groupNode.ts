import { describeReadFailure } from '../../connections/describeFailure';
import type { ConsumerFacts, GroupFacts } from '../facts';
import { joinFacts, lagText, oldestText, nameText, pendingText } from '../phrases';
import type { Row } from '../row';
import { observeStandstill } from '../standstill';
import type { Standstill } from '../standstill';
import { groupTooltip } from '../tooltips';
import { BranchNode, childId, ChildPool } from '../treeNode';
import type { TreeNode } from '../treeNode';
import type { TreeContext } from '../treeContext';
import { ConsumerNode } from './consumerNode';
import { ErrorNode, MessageNode } from './smallNodes';
import type { StreamNode } from './streamNode';

/** A group of a stream; its children are its consumers. */
export class GroupNode extends BranchNode {
  private readonly pool = new ChildPool<ConsumerFacts, ConsumerNode>();
  private current: GroupFacts;
  private standstill: Standstill | undefined;

  constructor(
    override readonly parent: StreamNode,
    facts: GroupFacts,
    context: TreeContext,
  ) {
    super(childId(parent.id, 'group', facts.name), parent, context);
    this.current = facts;
  }

  get facts(): GroupFacts {
    return this.current;
  }

  set facts(facts: GroupFacts) {
    this.current = facts;
    this.standstill = observeStandstill(this.standstill, facts);
  }

  row(): Row {
    const { l10n } = this.context;
    const { name, lag, pending, oldestPending } = this.facts;
    const label = nameText(name);
    const description = joinFacts(
      lagText(lag, this.context),
      pendingText(pending, this.context),
      oldestPending ? oldestText(oldestPending.age, this.context) : undefined,
    );
    return {
      kind: 'group',
      flags: pending > 0 ? ['pending'] : [],
      label,
      description,
      icon: { id: 'organization' },
      children: 'collapsed',
      tooltip: groupTooltip(this.facts, this.standstill, this.context),
      accessibilityLabel: l10n.t('Group {0}, {1}', label, description),
    };
  }

  protected async load(): Promise<readonly TreeNode[]> {
    const { l10n } = this.context;
    const consumers = await this.parent.reads.consumers(this.parent.facts.key, this.facts.name);
    const nodes = this.pool.adopt(
      consumers,
      ({ name }) => name,
      (facts) => new ConsumerNode(this, facts, this.context),
    );
    if (nodes.length > 0) return nodes;
    const detail = l10n.t('A consumer appears when it first reads in this group.');
    return [new MessageNode(this, l10n.t('No consumers yet.'), detail, this.context)];
  }

  protected failed(error: unknown, hasOldChildren: boolean): TreeNode {
    const what = this.context.l10n.t('consumers of {0}', nameText(this.facts.name));
    const failure = describeReadFailure(error, what, this.parent.profile, this.context.l10n);
    return new ErrorNode(this, failure, hasOldChildren, this.context);
  }
}
