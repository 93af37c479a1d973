import type { CommandId } from '../manifest/commands';

/** The kind of a row; the first word of its context value. */
export type RowKind =
  | 'connection'
  | 'problem'
  | 'folder'
  | 'stream'
  | 'group'
  | 'consumer'
  | 'pending'
  | 'deadLetters'
  | 'deadLetter'
  | 'loadMore'
  | 'error'
  | 'message';

/** All that is drawn of one node; plain data, so that whole trees can be printed and compared. */
export interface Row {
  readonly kind: RowKind;
  /** What menus ask for beside the kind, such as `gone`. */
  readonly flags: readonly string[];
  /** Safe to show: no control characters, nothing that reorders text. */
  readonly label: string;
  readonly description: string;
  readonly icon: { readonly id: string; readonly color?: string };
  /** Whether it has children, and whether they are open at first. */
  readonly children: 'none' | 'collapsed' | 'expanded';
  /** Markdown, user text escaped. */
  readonly tooltip: string;
  /** What a screen reader says instead of label and description. */
  readonly accessibilityLabel: string;
  /** Run on a click or Enter; its argument is the node. */
  readonly command?: CommandId;
}

/** The context value that menus test: `kind+flag+flag`. */
export function contextValueOf({ kind, flags }: Pick<Row, 'kind' | 'flags'>): string {
  return [kind, ...flags].join('+');
}
