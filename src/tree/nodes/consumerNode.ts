import { describeReadFailure } from '../../connections/describeFailure';
import type { ConsumerFacts, PendingFacts } from '../facts';
import { count, idleText, joinFacts, nameText, pendingText } from '../phrases';
import type { Row } from '../row';
import { consumerTooltip } from '../tooltips';
import { BranchNode, childId, ChildPool } from '../treeNode';
import type { TreeNode } from '../treeNode';
import type { TreeContext } from '../treeContext';
import { PendingNode } from './entryNodes';
import type { GroupNode } from './groupNode';
import { ErrorNode, LoadMoreNode, MessageNode } from './smallNodes';
import type { Paged } from './smallNodes';

/** A consumer of a group; its children are its pending entries, lowest id first. */
export class ConsumerNode extends BranchNode implements Paged {
  private readonly pool = new ChildPool<PendingFacts, PendingNode>();
  private pages = 1;

  constructor(
    override readonly parent: GroupNode,
    public facts: ConsumerFacts,
    context: TreeContext,
  ) {
    super(childId(parent.id, 'consumer', facts.name), parent, context);
  }

  wantMore(): void {
    this.pages += 1;
    this.markStale();
  }

  row(): Row {
    const { l10n } = this.context;
    const { name, pending, idleMs } = this.facts;
    const label = nameText(name);
    const isHeld = this.isHeldByDebugger();
    const description = joinFacts(
      pendingText(pending, this.context),
      isHeld ? l10n.t('held by debugger') : idleText(idleMs, this.context),
    );
    return {
      kind: 'consumer',
      flags: pending > 0 ? ['pending'] : [],
      label,
      description,
      icon: { id: isHeld ? 'debug' : 'person' },
      children: 'collapsed',
      tooltip: consumerTooltip(this.facts, this.context),
      accessibilityLabel: l10n.t('Consumer {0}, {1}', label, description),
    };
  }

  private isHeldByDebugger(): boolean {
    const { facts, parent: stream } = this.parent;
    return this.context.held?.isConsumer(stream.profile.id, stream.facts.key, facts.name, this.facts.name) ?? false;
  }

  protected async load(): Promise<readonly TreeNode[]> {
    const { l10n, settings } = this.context;
    const { key } = this.parent.parent.facts;
    const wanted = settings().pageSize * this.pages;
    const { items, hasMore } = await this.parent.parent.reads.pending(
      key,
      this.parent.facts.name,
      this.facts.name,
      wanted,
    );
    const nodes = this.pool.adopt(
      items,
      ({ id }) => id,
      (facts) => new PendingNode(this, facts, this.context),
    );
    if (nodes.length === 0) {
      return [new MessageNode(this, l10n.t('Nothing is pending for this consumer.'), '', this.context)];
    }
    const of = l10n.t('of {0}', count(Math.max(this.facts.pending, nodes.length), this.context));
    return hasMore ? [...nodes, new LoadMoreNode(this, of, this.context)] : nodes;
  }

  protected failed(error: unknown, hasOldChildren: boolean): TreeNode {
    const what = this.context.l10n.t('pending entries of {0}', nameText(this.facts.name));
    const failure = describeReadFailure(error, what, this.parent.parent.profile, this.context.l10n);
    return new ErrorNode(this, failure, hasOldChildren, this.context);
  }
}
