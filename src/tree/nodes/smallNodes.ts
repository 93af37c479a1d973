/** The rows that are no thing of Redis: what failed, what there is not, and the way to more. */
import { displayText } from '../../base/byteText';
import { escapeMarkdown } from '../../base/markdown';
import type { ConnectionFailure } from '../../connections/connectionFailure';
import type { ProfileProblem } from '../../connections/settingProfiles';
import type { Row } from '../row';
import { childId, TreeNode } from '../treeNode';
import type { TreeContext } from '../treeContext';

/** A failure, shown where it happened. Retry and a click read the parent again. */
export class ErrorNode extends TreeNode {
  constructor(
    override readonly parent: TreeNode,
    readonly failure: ConnectionFailure,
    private readonly hasOldRows: boolean,
    context: TreeContext,
  ) {
    super(childId(parent.id, 'error', ''), parent, context);
  }

  row(): Row {
    const { l10n } = this.context;
    const { message, nextStep, reason } = this.failure;
    const isDisconnected = reason === 'disconnected';
    const older = this.hasOldRows ? l10n.t('what is below was read earlier') : '';
    return {
      kind: isDisconnected ? 'message' : 'error',
      // Menus offer the next step by the name of its command.
      flags: isDisconnected ? [] : ['retry', ...(nextStep ? [nextStep.command.replace('redisStreams.', '')] : [])],
      label: displayText(message),
      description: older,
      icon: isDisconnected ? { id: 'plug' } : { id: 'error', color: 'list.errorForeground' },
      children: 'none',
      tooltip: escapeMarkdown(displayText(message)),
      accessibilityLabel: isDisconnected ? displayText(message) : l10n.t('Error: {0}', displayText(message)),
      command: isDisconnected ? 'redisStreams.connect' : 'redisStreams.retry',
    };
  }
}

/** Says what is not there, and what to do. */
export class MessageNode extends TreeNode {
  constructor(
    override readonly parent: TreeNode,
    private readonly message: string,
    private readonly detail: string,
    context: TreeContext,
  ) {
    super(childId(parent.id, 'message', ''), parent, context);
  }

  row(): Row {
    return {
      kind: 'message',
      flags: [],
      label: this.message,
      description: this.detail,
      icon: { id: 'info' },
      children: 'none',
      tooltip: escapeMarkdown(this.detail === '' ? this.message : `${this.message} ${this.detail}`),
      accessibilityLabel: this.detail === '' ? this.message : `${this.message} ${this.detail}`,
    };
  }
}

/** What a node with pages can do. */
export interface Paged {
  /** Wants one more page from the next load on. */
  wantMore(): void;
}

/** The way to the next page. */
export class LoadMoreNode extends TreeNode {
  constructor(
    override readonly parent: TreeNode & Paged,
    private readonly description: string,
    context: TreeContext,
  ) {
    super(childId(parent.id, 'more', ''), parent, context);
  }

  row(): Row {
    const { l10n, settings } = this.context;
    const label = l10n.t('Load {0} more…', settings().pageSize);
    return {
      kind: 'loadMore',
      flags: [],
      label,
      description: this.description,
      icon: { id: 'ellipsis' },
      children: 'none',
      tooltip: escapeMarkdown(`${label} ${this.description}`.trim()),
      accessibilityLabel: `${label} ${this.description}`.trim(),
      command: 'redisStreams.loadMore',
    };
  }
}

/** An entry of the settings that cannot be used. */
export class ProblemNode extends TreeNode {
  constructor(
    readonly problem: ProfileProblem,
    context: TreeContext,
  ) {
    super(childId('', 'problem', problem.id), undefined, context);
  }

  row(): Row {
    const { l10n } = this.context;
    const message = displayText(this.problem.message);
    const isMovable = this.problem.movable !== undefined;
    return {
      kind: 'problem',
      flags: isMovable ? ['password'] : [],
      label: message,
      description: '',
      icon: { id: 'warning', color: 'list.warningForeground' },
      children: 'none',
      tooltip: escapeMarkdown(message),
      accessibilityLabel: l10n.t('Problem: {0}', message),
      command: isMovable ? 'redisStreams.movePassword' : 'redisStreams.openSettings',
    };
  }
}
