import { formatDuration } from '../../base/duration';
import { describeReadFailure } from '../../connections/describeFailure';
import type { DeadLetterFacts, DeadLettersFacts } from '../facts';
import { count, joinFacts, nameText } from '../phrases';
import type { Row } from '../row';
import { deadLettersTooltip } from '../tooltips';
import { BranchNode, childId, ChildPool } from '../treeNode';
import type { TreeNode } from '../treeNode';
import type { TreeContext } from '../treeContext';
import { DeadLetterNode } from './entryNodes';
import { ErrorNode, LoadMoreNode, MessageNode } from './smallNodes';
import type { Paged } from './smallNodes';
import type { StreamNode } from './streamNode';

/** The dead letters of a stream, newest first. */
export class DeadLettersNode extends BranchNode implements Paged {
  private readonly pool = new ChildPool<DeadLetterFacts, DeadLetterNode>();
  private pages = 1;

  constructor(
    override readonly parent: StreamNode,
    public facts: DeadLettersFacts,
    context: TreeContext,
  ) {
    super(childId(parent.id, 'deadLetters', facts.key), parent, context);
  }

  wantMore(): void {
    this.pages += 1;
    this.markStale();
  }

  row(): Row {
    const { l10n } = this.context;
    const { length, newestAtMs, serverTimeMs } = this.facts;
    const description = joinFacts(
      count(length, this.context),
      newestAtMs === undefined ? undefined : l10n.t('newest {0} ago', formatDuration(serverTimeMs - newestAtMs)),
    );
    return {
      kind: 'deadLetters',
      flags: [],
      label: l10n.t('Dead letters'),
      description,
      icon: { id: 'inbox' },
      children: 'collapsed',
      tooltip: deadLettersTooltip(this.facts, this.context),
      accessibilityLabel: l10n.t('Dead letters, {0}', description),
    };
  }

  protected async load(): Promise<readonly TreeNode[]> {
    const { l10n, settings } = this.context;
    const { key, length } = this.facts;
    const { items, hasMore } = await this.parent.reads.deadLetters(key, settings().pageSize * this.pages);
    const nodes = this.pool.adopt(
      items,
      ({ id }) => id,
      (facts) => new DeadLetterNode(this, facts, this.context),
    );
    if (nodes.length === 0) return [new MessageNode(this, l10n.t('No dead letters.'), '', this.context)];
    const of = l10n.t('of {0}', count(Math.max(length, nodes.length), this.context));
    return hasMore ? [...nodes, new LoadMoreNode(this, of, this.context)] : nodes;
  }

  protected failed(error: unknown, hasOldChildren: boolean): TreeNode {
    const what = this.context.l10n.t('dead letters in {0}', nameText(this.facts.key));
    const failure = describeReadFailure(error, what, this.parent.profile, this.context.l10n);
    return new ErrorNode(this, failure, hasOldChildren, this.context);
  }
}
