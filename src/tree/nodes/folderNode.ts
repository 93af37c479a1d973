import { escapeMarkdown, markdownCode } from '../../base/markdown';
import { groupByPrefix } from '../folders';
import { nameText, streamsText } from '../phrases';
import type { Row } from '../row';
import { childId, TreeNode } from '../treeNode';
import type { TreeContext } from '../treeContext';
import type { StreamNode } from './streamNode';

/** Streams whose keys share a prefix. Its children were read by the connection; it reads nothing itself. */
export class FolderNode extends TreeNode {
  /** The prefix without that of the folder around it. */
  label: string;
  private members: readonly TreeNode[] = [];
  private streamCount = 0;

  constructor(
    connectionNodeId: string,
    override parent: TreeNode,
    readonly prefix: string,
    context: TreeContext,
  ) {
    super(childId(connectionNodeId, 'folder', prefix), parent, context);
    this.label = prefix;
  }

  /** Takes what the connection read. */
  hold(members: readonly TreeNode[], streamCount: number): void {
    this.members = members;
    this.streamCount = streamCount;
  }

  override children(): Promise<readonly TreeNode[]> {
    return Promise.resolve(this.members);
  }

  override markStale(): void {
    for (const member of this.members) member.markStale();
  }

  row(): Row {
    const { l10n } = this.context;
    const label = nameText(this.label);
    const description = streamsText(this.streamCount, this.context);
    const meaning = escapeMarkdown(l10n.t('Streams whose keys start with'));
    return {
      kind: 'folder',
      flags: [],
      label,
      description,
      icon: { id: 'folder' },
      children: 'collapsed',
      tooltip: `${meaning} ${markdownCode(nameText(this.prefix))}`,
      accessibilityLabel: l10n.t('Folder {0}, {1}', label, description),
    };
  }
}

/** Puts streams into folders, nested, each below what shows it. */
export function arrange(
  streams: readonly StreamNode[],
  above: TreeNode,
  prefix: string,
  separator: string,
  folderOf: (prefix: string, label: string, above: TreeNode) => FolderNode,
): readonly TreeNode[] {
  return groupByPrefix(streams, ({ facts }) => facts.companionOf ?? facts.key, separator, prefix).map((grouped) => {
    if (grouped.kind === 'item') {
      grouped.item.parent = above;
      return grouped.item;
    }
    const folder = folderOf(grouped.prefix, grouped.label, above);
    const members = arrange(grouped.items, folder, grouped.prefix, separator, folderOf);
    folder.hold(members, grouped.items.length);
    return folder;
  });
}
