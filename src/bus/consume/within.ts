import type { Clock } from '../../base/clock';

/** The promise's value, or undefined when the time is up before it settles. A rejection that comes later is of no concern. */
export async function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T | undefined> {
  let cancel: () => void = () => undefined;
  const timeout = new Promise<undefined>((resolve) => {
    cancel = clock.after(ms, () => {
      resolve(undefined);
    });
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    cancel();
  }
}
