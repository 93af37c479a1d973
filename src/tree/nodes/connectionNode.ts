import { displayText } from '../../base/byteText';
import { describeReadFailure } from '../../connections/describeFailure';
import type { LiveConnection } from '../../connections/liveConnection';
import { environmentColor } from '../../connections/profiles';
import type { ConnectionProfile } from '../../connections/profiles';
import type { StreamFacts } from '../facts';
import { connectionText, count, joinFacts, refreshText } from '../phrases';
import type { ListedStreams, TreeReads } from '../reads';
import type { Row } from '../row';
import { BranchNode, childId, ChildPool } from '../treeNode';
import type { TreeNode } from '../treeNode';
import type { TreeContext } from '../treeContext';
import { connectionTooltip } from '../connectionTooltip';
import { arrange, FolderNode } from './folderNode';
import { ErrorNode, LoadMoreNode, MessageNode } from './smallNodes';
import type { Paged } from './smallNodes';
import { StreamNode } from './streamNode';
import type { StreamOwner } from './streamNode';

/** A connection; its children are its streams, in folders by prefix. */
export class ConnectionNode extends BranchNode implements Paged, StreamOwner {
  private readonly streams = new ChildPool<StreamFacts, StreamNode>();
  private folders = new Map<string, FolderNode>();
  private pages = 1;
  private pattern: string | undefined;
  private listing: ListedStreams | undefined;
  private isAutomatic = false;

  constructor(
    readonly connection: LiveConnection,
    readonly reads: TreeReads,
    context: TreeContext,
  ) {
    super(childId('', 'connection', connection.profile.id), undefined, context);
  }

  get profile(): ConnectionProfile {
    return this.connection.profile;
  }

  /** What only some streams are shown by, or undefined for all. */
  get filter(): string | undefined {
    return this.pattern;
  }

  /** Shows only the streams whose keys match a glob, or start with a text that holds none of its characters. */
  setFilter(filter: string | undefined): void {
    this.pattern = filter === undefined || filter === '' ? undefined : filter;
    this.pages = 1;
    this.markStale();
  }

  /** Like `markStale`, for a refresh that nobody asked for. */
  markStaleAutomatically(): void {
    this.markStale();
    this.isAutomatic = true;
  }

  override markStale(): void {
    this.isAutomatic = false;
    super.markStale();
  }

  wantMore(): void {
    this.pages += 1;
    this.markStale();
  }

  row(): Row {
    const { l10n } = this.context;
    const { profile, state, isReadOnly, writableUntilMs } = this.connection;
    const label = displayText(profile.name);
    const nowMs = this.context.clock.now();
    const facts = { environment: profile.environment, isReadOnly, writableUntilMs, nowMs };
    const description = joinFacts(
      connectionText(state, facts, this.context),
      state.kind === 'connected' ? refreshText(this.refreshSeconds(), this.context) : undefined,
      this.pattern === undefined ? undefined : l10n.t('filter {0}', displayText(this.pattern)),
    );
    return {
      kind: 'connection',
      flags: [
        state.kind,
        ...(profile.source === 'saved' || profile.source === 'sandbox' ? [profile.source] : []),
        ...(isReadOnly ? ['readOnly'] : []),
        ...(writableUntilMs === undefined ? [] : ['unlocked']),
      ],
      label,
      description,
      icon: { id: 'server-environment', color: environmentColor(profile.environment) },
      children: 'collapsed',
      tooltip: connectionTooltip(this.connection, this.refreshSeconds(), this.context),
      accessibilityLabel: l10n.t('Connection {0}, {1}', label, description),
    };
  }

  protected async load(): Promise<readonly TreeNode[]> {
    const { settings } = this.context;
    const { pageSize, keySeparator } = settings();
    const listed = await this.list(pageSize);
    const streams = this.streams.adopt(
      listed.streams,
      ({ key }) => key,
      (facts) => new StreamNode(this, this, facts, this.context),
    );
    const known = this.folders;
    this.folders = new Map();
    const rows = arrange(streams, this, '', keySeparator, (prefix, label, above) => {
      const folder = known.get(prefix) ?? new FolderNode(this.id, above, prefix, this.context);
      folder.parent = above;
      folder.label = label;
      this.folders.set(prefix, folder);
      return folder;
    });
    if (streams.length === 0) return [this.emptyMessage(listed)];
    if (!listed.hasMore) return rows;
    return [...rows, new LoadMoreNode(this, this.moreText(listed), this.context)];
  }

  /** A costly listing is not scanned for again by itself: what is known is only described anew. */
  private async list(pageSize: number): Promise<ListedStreams> {
    const known = this.listing;
    if (known?.isCostly === true && this.isAutomatic) {
      return { ...known, streams: await this.reads.describeStreams(known.streams.map(({ key }) => key)) };
    }
    const options = { match: this.match(), count: pageSize * this.pages, pages: this.pages };
    this.listing = await this.reads.listStreams(options);
    return this.listing;
  }

  protected failed(error: unknown, hasOldChildren: boolean): TreeNode {
    const failure = describeReadFailure(error, this.context.l10n.t('streams'), this.profile, this.context.l10n);
    return new ErrorNode(this, failure, hasOldChildren, this.context);
  }

  private refreshSeconds(): number {
    return this.context.settings().refreshSeconds(this.profile.environment);
  }

  private match(): string {
    if (this.pattern === undefined) return this.context.settings().scanMatch || '*';
    return /[*?[]/.test(this.pattern) ? this.pattern : `${this.pattern.replaceAll('\\', '\\\\')}*`;
  }

  private moreText({ streams }: ListedStreams): string {
    return this.context.l10n.t('of ≥ {0}', count(streams.length + 1, this.context));
  }

  private emptyMessage({ hasMore, scannedKeys }: ListedStreams): TreeNode {
    const { l10n } = this.context;
    const match = displayText(this.match());
    if (hasMore) {
      const scanned = count(scannedKeys, this.context);
      const message = l10n.t('no streams among the first {0} keys or so', scanned);
      return new LoadMoreNode(this, message, this.context);
    }
    const message = match === '*' ? l10n.t('No streams here yet.') : l10n.t('No streams whose keys match {0}.', match);
    return new MessageNode(this, message, l10n.t('every key was looked at'), this.context);
  }
}
