/** The abort reason of a handler whose time was up. */
export class HandlerTimeoutError extends Error {
  override readonly name = 'HandlerTimeoutError';

  constructor(readonly timeoutMs: number) {
    super(`The handler did not finish within ${timeoutMs} ms`);
  }
}

/** The abort reason of a handler whose entry belongs to another consumer now, or is not pending any more. */
export class OwnershipLostError extends Error {
  override readonly name = 'OwnershipLostError';
}

/** The abort reason of a handler that still ran when its consumer's time to close was up. */
export class ShutdownError extends Error {
  override readonly name = 'ShutdownError';
}
