import * as vscode from 'vscode';
import { askChoice, askText } from './multiStepInput';
import type { PickItem, TextStep } from './multiStepInput';

/** Asks to choose one; undefined when nothing was chosen. */
export async function pickOne<T>(
  title: string,
  placeholder: string,
  items: readonly PickItem<T>[],
  selected?: T,
): Promise<T | undefined> {
  const result = await askChoice<T>({
    title,
    placeholder,
    items,
    step: 0,
    totalSteps: 0,
    canGoBack: false,
    ...(selected === undefined ? {} : { selected }),
  });
  return result.kind === 'value' ? result.value : undefined;
}

/** Asks for one line of text; undefined when it was left. */
export async function promptText(
  step: Omit<TextStep, 'step' | 'totalSteps' | 'canGoBack'>,
): Promise<string | undefined> {
  const result = await askText({ ...step, step: 0, totalSteps: 0, canGoBack: false });
  return result.kind === 'value' ? result.value : undefined;
}

/** Puts text on the clipboard. */
export async function copyText(text: string): Promise<void> {
  await vscode.env.clipboard.writeText(text);
}

/** Opens text in an unsaved editor. */
export async function openText(content: string, language: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ content, language });
  await vscode.window.showTextDocument(document, { preview: true });
}

/** Runs work with a progress note that can be cancelled. */
export function withProgress<T>(title: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return Promise.resolve(
    vscode.window.withProgress(options, (_progress, token) => {
      const abort = new AbortController();
      token.onCancellationRequested(() => {
        abort.abort();
      });
      return work(abort.signal);
    }),
  );
}
