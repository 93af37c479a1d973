import type { ErrorData } from '../protocol/envelope';

/** A failure that a panel shows as it is. Holds no payload and no secret. */
export class PanelError extends Error {
  override readonly name = 'PanelError';

  constructor(
    readonly data: ErrorData,
    options: { readonly cause?: unknown } = {},
  ) {
    super(data.message, options);
  }

  /** Tells whether a thrown value is a `PanelError`, of the given reason when one is given. */
  static is(error: unknown, reason?: string): error is PanelError {
    return error instanceof PanelError && (reason === undefined || error.data.reason === reason);
  }
}
