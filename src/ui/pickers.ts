import * as vscode from 'vscode';
import { escapeIcons } from '../base/iconText';
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

/** Asks to choose any number of things; undefined when it was left or nothing was chosen. */
export async function pickMany<T>(
  title: string,
  placeholder: string,
  items: readonly { readonly label: string; readonly description: string; readonly value: T }[],
): Promise<readonly T[] | undefined> {
  const chosen = await vscode.window.showQuickPick(
    items.map(({ label, description, value }) => ({
      label: escapeIcons(label),
      description: escapeIcons(description),
      value,
    })),
    { title, placeHolder: placeholder, canPickMany: true, ignoreFocusOut: true, matchOnDescription: true },
  );
  return chosen === undefined || chosen.length === 0 ? undefined : chosen.map(({ value }) => value);
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

/** Opens a file in an editor. */
export async function openFile(path: string): Promise<void> {
  await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: true });
}

/** Runs work with a progress note that can be cancelled; `report` says how much is done. */
export function withProgress<T>(
  title: string,
  work: (signal: AbortSignal, report: (done: number, total: number) => void) => Promise<T>,
): Promise<T> {
  const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
  return Promise.resolve(
    vscode.window.withProgress(options, (progress, token) => {
      let reported = 0;
      const report = (done: number, total: number): void => {
        progress.report({ message: `${done} / ${total}`, increment: (100 * (done - reported)) / Math.max(1, total) });
        reported = done;
      };
      const abort = new AbortController();
      token.onCancellationRequested(() => {
        abort.abort();
      });
      return work(abort.signal, report);
    }),
  );
}

/** Asks for a file of this machine; undefined when none was chosen. */
export async function chooseFile(title: string): Promise<string | undefined> {
  const [chosen] = (await vscode.window.showOpenDialog({ title, canSelectMany: false })) ?? [];
  return chosen?.fsPath;
}
