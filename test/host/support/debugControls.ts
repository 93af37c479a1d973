// A debug session as a person steers it: the toolbar, where it is stopped, its call stack and variables.
// Tested by ../harness.test.ts on a Node program.
import type { Page } from 'playwright-core';
import { eventually } from '../../support/eventually';
import type { Bridge, DebugSessionState } from './bridge';

/** Where a session is stopped. */
export interface Stop {
  readonly session: string;
  readonly threadId: number;
  readonly reason: string;
  readonly description: string;
  /** The frames, innermost first. */
  readonly frames: readonly StackFrame[];
}

/** A frame of the call stack. */
export interface StackFrame {
  readonly id: number;
  readonly name: string;
  readonly path: string;
  readonly line: number;
}

/** The debugger of the window. */
export class DebugControls {
  constructor(
    private readonly page: Page,
    private readonly bridge: Bridge,
  ) {}

  /** How many stops there have been; pass it to `stopped` to wait for the next one. */
  get stops(): number {
    return this.bridge.debugEvents.filter(({ event }) => event === 'stopped').length;
  }

  /** Waits until a session is stopped, for the `beyond`-th time and one more. */
  async stopped(beyond = 0): Promise<Stop> {
    const { session, body } = await eventually(
      () => this.bridge.debugEvents.filter(({ event }) => event === 'stopped')[beyond] ?? false,
      { timeoutMs: 60_000, what: 'the debugger to stop' },
    );
    const { threadId, reason, description } = fields(body);
    const trace = fields(
      await this.bridge.debugRequest(session, 'stackTrace', { threadId, startFrame: 0, levels: 20 }),
    );
    const frames = Array.isArray(trace.stackFrames) ? trace.stackFrames.map(readFrame) : [];
    return { session, threadId: Number(threadId), reason: text(reason), description: text(description), frames };
  }

  /** The variables of a frame's innermost scope, by name. */
  async variables(stop: Stop, frame = 0): Promise<Record<string, string>> {
    const scopes = fields(await this.bridge.debugRequest(stop.session, 'scopes', { frameId: stop.frames[frame]?.id }));
    const [scope] = Array.isArray(scopes.scopes) ? scopes.scopes.map(fields) : [];
    const variablesReference = scope?.variablesReference;
    const answer = fields(await this.bridge.debugRequest(stop.session, 'variables', { variablesReference }));
    const variables = Array.isArray(answer.variables) ? answer.variables.map(fields) : [];
    return Object.fromEntries(variables.map(({ name, value }) => [text(name), text(value)]));
  }

  /** Evaluates an expression in a frame of a stop. */
  async evaluate(stop: Stop, expression: string, frame = 0): Promise<string> {
    const args = { expression, frameId: stop.frames[frame]?.id, context: 'repl' };
    return text(fields(await this.bridge.debugRequest(stop.session, 'evaluate', args)).result);
  }

  /** All that the sessions have printed to the debug console. */
  output(): string {
    const outputs = this.bridge.debugEvents.filter(({ event }) => event === 'output').map(({ body }) => fields(body));
    return outputs.map(({ output }) => text(output)).join('');
  }

  /** Presses a button of the floating toolbar by the start of its title: Continue, Step Over, Stop, Restart, Pause. */
  async press(title: string): Promise<void> {
    await this.page
      .locator(`.debug-toolbar .action-label[aria-label^=${JSON.stringify(title)}]`)
      .first()
      .click();
  }

  sessions(): Promise<DebugSessionState[]> {
    return this.bridge.debugSessions();
  }

  /** Waits until no session is left. */
  async ended(): Promise<void> {
    await eventually(async () => (await this.sessions()).length === 0, {
      timeoutMs: 60_000,
      what: 'every debug session to end',
    });
  }

  /** The rows of the call stack view, which is opened for it. */
  async callStack(): Promise<string[]> {
    await this.bridge.executeCommand('workbench.debug.action.focusCallStackView');
    const rows = this.page.locator('.debug-call-stack .monaco-list-row');
    await rows.first().waitFor();
    return rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
  }
}

function readFrame(frame: unknown): StackFrame {
  const { id, name, line, source } = fields(frame);
  return { id: Number(id), name: text(name), line: Number(line), path: toPath(text(fields(source).path)) };
}

/** The debugger of a remote window names files by URI. */
function toPath(source: string): string {
  return /^[\w-]+:\/\//.test(source) ? decodeURIComponent(new URL(source).pathname) : source;
}

function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
