import * as vscode from 'vscode';
import type { Disposable } from '../base/disposables';
import { escapeIcons } from '../base/iconText';

/** What a step of a multi-step input gave: a value, or that the person went back or gave up. */
export type StepResult<T> =
  { readonly kind: 'value'; readonly value: T } | { readonly kind: 'back' } | { readonly kind: 'cancelled' };

/** Where a step stands, for its title. */
export interface StepPlace {
  readonly title: string;
  readonly step: number;
  readonly totalSteps: number;
  /** What was entered so far stays when a person goes back and forth. */
  readonly canGoBack: boolean;
}

/** A line of text to ask for. */
export interface TextStep extends StepPlace {
  readonly prompt: string;
  readonly value?: string;
  readonly placeholder?: string;
  /** Hides what is typed. */
  readonly password?: boolean;
  /** What is wrong with the text as it is, or undefined; called as it is typed. */
  validate?(text: string): string | undefined;
  /**
   * Tried on Enter, while the box shows that it is busy; a text keeps the box open with what is wrong, undefined accepts. The
   * signal aborts when the box is closed.
   */
  submit?(text: string, signal: AbortSignal): Promise<string | undefined>;
}

/** A choice to ask for. */
export interface PickStep<T> extends StepPlace {
  readonly placeholder: string;
  readonly items: readonly PickItem<T>[];
  readonly selected?: T;
}

/** One choice. */
export interface PickItem<T> {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly icon?: { readonly id: string; readonly color?: string };
  readonly value: T;
}

/** Asks for a line of text; the box stays when the window loses the focus, so that a URL can be fetched from elsewhere. */
export function askText(step: TextStep): Promise<StepResult<string>> {
  const box = vscode.window.createInputBox();
  box.title = step.title;
  box.step = step.step;
  box.totalSteps = step.totalSteps;
  box.prompt = step.prompt;
  box.value = step.value ?? '';
  box.placeholder = step.placeholder;
  box.password = step.password ?? false;
  box.ignoreFocusOut = true;
  box.buttons = step.canGoBack ? [vscode.QuickInputButtons.Back] : [];
  const abort = new AbortController();
  return settleOnce<string>(box, (finish) => [
    box.onDidTriggerButton(() => {
      finish({ kind: 'back' });
    }),
    box.onDidChangeValue((text) => {
      box.validationMessage = step.validate?.(text);
    }),
    box.onDidAccept(async () => {
      const text = box.value;
      const problem = step.validate?.(text) ?? (await whileBusy(box, () => step.submit?.(text, abort.signal)));
      if (problem === undefined) finish({ kind: 'value', value: text });
      else box.validationMessage = problem;
    }),
    box.onDidHide(() => {
      abort.abort();
      finish({ kind: 'cancelled' });
    }),
  ]);
}

/** Asks to choose one of a few; the description and detail are searched too. */
export function askChoice<T>(step: PickStep<T>): Promise<StepResult<T>> {
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { value: T }>();
  pick.title = step.title;
  pick.step = step.step;
  pick.totalSteps = step.totalSteps;
  pick.placeholder = step.placeholder;
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.ignoreFocusOut = true;
  pick.buttons = step.canGoBack ? [vscode.QuickInputButtons.Back] : [];
  pick.items = step.items.map((item) => toQuickPickItem(item));
  pick.activeItems = pick.items.filter(({ value }) => value === step.selected);
  return settleOnce<T>(pick, (finish) => [
    pick.onDidTriggerButton(() => {
      finish({ kind: 'back' });
    }),
    pick.onDidAccept(() => {
      const [chosen] = pick.selectedItems;
      if (chosen) finish({ kind: 'value', value: chosen.value });
    }),
    pick.onDidHide(() => {
      finish({ kind: 'cancelled' });
    }),
  ]);
}

/** A step of `runSteps`: asks and stores, or tells that nothing needs asking (`skipped`). */
export type Step = (place: {
  readonly step: number;
  readonly canGoBack: boolean;
}) => Promise<'next' | 'back' | 'cancelled' | 'skipped'>;

/** Walks through the steps, back and forth; true when the last one was answered. */
export async function runSteps(steps: readonly Step[]): Promise<boolean> {
  const asked: number[] = [];
  let index = 0;
  for (;;) {
    const step = steps[index];
    if (!step) return true;
    const outcome = await step({ step: index + 1, canGoBack: asked.length > 0 });
    if (outcome === 'cancelled') return false;
    if (outcome === 'back') {
      index = asked.pop() ?? 0;
      continue;
    }
    if (outcome === 'next') asked.push(index);
    index += 1;
  }
}

/** Shows a quick input until `finish` is first called, then disposes it and its listeners. */
function settleOnce<T>(
  input: vscode.QuickInput,
  listen: (finish: (result: StepResult<T>) => void) => readonly Disposable[],
): Promise<StepResult<T>> {
  return new Promise((resolve) => {
    let isDone = false;
    const listeners = listen((result) => {
      if (isDone) return;
      isDone = true;
      resolve(result);
      for (const listener of listeners) listener.dispose();
      input.dispose();
    });
    input.show();
  });
}

async function whileBusy<T>(box: vscode.InputBox, work: () => Promise<T> | undefined): Promise<T | undefined> {
  box.busy = true;
  box.enabled = false;
  try {
    return await work();
  } finally {
    box.busy = false;
    box.enabled = true;
  }
}

function toQuickPickItem<T>(item: PickItem<T>): vscode.QuickPickItem & { value: T } {
  const color = item.icon?.color === undefined ? undefined : new vscode.ThemeColor(item.icon.color);
  return {
    label: escapeIcons(item.label),
    value: item.value,
    ...(item.description === undefined ? {} : { description: escapeIcons(item.description) }),
    ...(item.detail === undefined ? {} : { detail: escapeIcons(item.detail) }),
    ...(item.icon === undefined ? {} : { iconPath: new vscode.ThemeIcon(item.icon.id, color) }),
  };
}
