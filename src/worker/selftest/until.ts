import { setTimeout as sleep } from 'node:timers/promises';

/** Looks again and again until it finds something that is not false; rejects when it takes too long, saying what was waited for. */
export async function until<Found>(
  look: () => Found | false | Promise<Found | false>,
  what: string,
  timeoutMs = 15_000,
): Promise<Found> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== false) return found;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs / 1000} s for ${what}`);
    await sleep(10);
  }
}
