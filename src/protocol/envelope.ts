/**
 * The envelope of everything that a webview panel and its host say to each other. Types only.
 *
 * The webview asks and the host answers every request exactly once, with a result or with an error as data. The host may also
 * post events, but only as many as the webview granted credits for; what waits too long is dropped, oldest first, and counted.
 * A webview that (re)loads or becomes visible again starts a new generation with `hello`: the host cancels what older
 * generations asked, and both sides ignore messages of any generation but the current one.
 *
 * Values must survive structured cloning as VS Code does it: plain objects, arrays, strings, numbers, booleans, null and
 * Uint8Array of at most 1 MB a message. No Buffer, Map, Date or bigint.
 */

/** What one panel's two sides say to each other; each panel's file here declares one. */
export interface PanelContract {
  readonly requests: Readonly<Record<string, { readonly params: unknown; readonly result: unknown }>>;
  readonly events: Readonly<Record<string, unknown>>;
}

/** A failure as data: shown where it happened. `nextStep` is a command of the extension offered as a button. */
export interface ErrorData {
  readonly reason: string;
  readonly message: string;
  readonly retriable: boolean;
  readonly nextStep?: { readonly title: string; readonly command: string };
}

/** Sent first by a webview's new generation, with the number of events that it can take. */
export interface HelloMessage {
  readonly kind: 'hello';
  readonly generation: number;
  readonly credits: number;
}

/** A question of the webview. `id` is unique within its generation. */
export interface RequestMessage<
  C extends PanelContract,
  M extends keyof C['requests'] & string = keyof C['requests'] & string,
> {
  readonly kind: 'request';
  readonly generation: number;
  readonly id: number;
  readonly method: M;
  readonly params: C['requests'][M]['params'];
}

/** The webview no longer wants the answer; the host aborts the work and still answers, with reason `cancelled`. */
export interface CancelMessage {
  readonly kind: 'cancel';
  readonly generation: number;
  readonly id: number;
}

/** The webview can take that many more events. */
export interface CreditMessage {
  readonly kind: 'credit';
  readonly generation: number;
  readonly credits: number;
}

/** The one answer to a request. */
export type ResponseMessage = {
  readonly kind: 'response';
  readonly generation: number;
  readonly id: number;
} & ({ readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly error: ErrorData });

/** Something that the host tells unasked. `dropped` counts the events that were given up since the last one sent. */
export interface EventMessage<
  C extends PanelContract,
  E extends keyof C['events'] & string = keyof C['events'] & string,
> {
  readonly kind: 'event';
  readonly generation: number;
  readonly name: E;
  readonly payload: C['events'][E];
  readonly dropped: number;
}

/** All that a webview sends. */
export type FromWebview<C extends PanelContract> = HelloMessage | RequestMessage<C> | CancelMessage | CreditMessage;

/** All that a host sends. */
export type FromHost<C extends PanelContract> = ResponseMessage | EventMessage<C>;
