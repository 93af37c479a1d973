import { describeReadFailure } from '../../connections/describeFailure';
import type { ConnectionProfile } from '../../connections/profiles';
import type { DeadLettersFacts, GroupFacts, StreamFacts } from '../facts';
import { count, groupsText, joinFacts, nameText, pendingText } from '../phrases';
import type { TreeReads } from '../reads';
import type { Row } from '../row';
import { streamTooltip } from '../tooltips';
import { BranchNode, childId, ChildPool } from '../treeNode';
import type { TreeNode } from '../treeNode';
import type { TreeContext } from '../treeContext';
import { DeadLettersNode } from './deadLettersNode';
import { GroupNode } from './groupNode';
import { ErrorNode, MessageNode } from './smallNodes';

/** What a stream's row needs of the connection above it. */
export interface StreamOwner {
  readonly id: string;
  readonly reads: TreeReads;
  readonly profile: ConnectionProfile;
}

/** A stream; its children are its groups, then its dead letters when it has any. */
export class StreamNode extends BranchNode {
  private readonly groups = new ChildPool<GroupFacts, GroupNode>();
  private readonly deadLetters = new ChildPool<DeadLettersFacts, DeadLettersNode>();

  constructor(
    private readonly owner: StreamOwner,
    /** The connection or the folder that shows it; a stream keeps its id when it moves into a folder. */
    override parent: TreeNode,
    public facts: StreamFacts,
    context: TreeContext,
  ) {
    super(childId(owner.id, 'stream', facts.key), parent, context);
  }

  get reads(): TreeReads {
    return this.owner.reads;
  }

  get profile(): ConnectionProfile {
    return this.owner.profile;
  }

  row(): Row {
    const { l10n } = this.context;
    const { key, figures, journalOf } = this.facts;
    const label = nameText(key);
    const description = figures
      ? joinFacts(
          count(figures.length, this.context),
          journalOf === undefined
            ? groupsText(figures.groups, this.context)
            : l10n.t('delivery journal of {0}', nameText(journalOf)),
          figures.groups > 0 ? pendingText(figures.pending, this.context) : undefined,
        )
      : l10n.t('no permission');
    return {
      kind: 'stream',
      flags: [],
      label,
      description,
      icon: { id: !figures ? 'lock' : journalOf === undefined ? 'layers' : 'history' },
      children: 'collapsed',
      tooltip: streamTooltip(this.facts, this.context),
      accessibilityLabel: l10n.t('Stream {0}, {1}', label, description),
    };
  }

  protected async load(): Promise<readonly TreeNode[]> {
    const { l10n } = this.context;
    const { groups, deadLetters } = await this.reads.streamChildren(this.facts.key);
    const groupNodes = this.groups.adopt(
      groups,
      ({ name }) => name,
      (facts) => new GroupNode(this, facts, this.context),
    );
    const deadNodes = this.deadLetters.adopt(
      deadLetters,
      ({ key }) => key,
      (facts) => new DeadLettersNode(this, facts, this.context),
    );
    if (groupNodes.length > 0) return [...groupNodes, ...deadNodes];
    const { journalOf } = this.facts;
    const message =
      journalOf === undefined
        ? l10n.t('No groups: nothing reads this stream in a consumer group.')
        : l10n.t(
            'What became of the entries of {0}: each of them shows it as its delivery history.',
            nameText(journalOf),
          );
    return [new MessageNode(this, message, '', this.context), ...deadNodes];
  }

  protected failed(error: unknown, hasOldChildren: boolean): TreeNode {
    const what = this.context.l10n.t('groups of {0}', nameText(this.facts.key));
    const failure = describeReadFailure(error, what, this.profile, this.context.l10n);
    return new ErrorNode(this, failure, hasOldChildren, this.context);
  }
}
