import * as vscode from 'vscode';

/** A question that blocks until it is answered. Its buttons repeat the verb; Cancel is always there, and what Escape means. */
export interface Confirmation {
  /** What will happen to how many of what. */
  readonly title: string;
  /** Its consequences, one a line. */
  readonly detail: readonly string[];
  /** What the button says, such as `Acknowledge 3`. */
  readonly verb: string;
  /** A second way out that changes nothing, such as `Copy as redis-cli`. */
  readonly alternative?: string;
}

/**
 * Asks in a modal dialog what to do; anything but a button is `cancelled`. VS Code gives the focus to the first button, and Cancel
 * cannot be that one: so the alternative, which changes nothing, comes first, and Enter does no harm.
 */
export async function confirm(question: Confirmation): Promise<'confirmed' | 'alternative' | 'cancelled'> {
  const items = question.alternative === undefined ? [question.verb] : [question.alternative, question.verb];
  const answer = await vscode.window.showWarningMessage(
    question.title,
    { modal: true, detail: question.detail.join('\n') },
    ...items,
  );
  if (answer === undefined) return 'cancelled';
  return answer === question.verb ? 'confirmed' : 'alternative';
}
