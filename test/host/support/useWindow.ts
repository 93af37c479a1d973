// One window for the tests of a describe block, with a picture of every failure, and a check at the end of the run that
// no window left a process or a port behind. Tested by ../harness.test.ts.
import { assertNothingLeft, openWindow, openWindows } from './openWindow';
import type { WindowOptions } from './openWindow';
import type { Window } from './window';

const openingTimeoutMs = 180_000;
const testTimeoutMs = 120_000;

/** Opens a window before the tests of the surrounding `describe` and closes it after; the result gives it to a test. */
export function useWindow(options: WindowOptions = {}): () => Window {
  let window: Window | undefined;
  before('a VS Code window opens', async function () {
    this.timeout(openingTimeoutMs);
    window = await openWindow(options);
  });
  beforeEach(function () {
    this.currentTest?.timeout(testTimeoutMs);
  });
  after('the VS Code window closes', async function () {
    this.timeout(openingTimeoutMs);
    await window?.close();
  });
  return () => {
    if (window === undefined) throw new Error('The window is open in tests and hooks of its describe block only.');
    return window;
  };
}

// Registered on the root suite, because this file is loaded by test files outside of any describe.
afterEach('a failure leaves a picture', async function () {
  this.timeout(testTimeoutMs);
  const test = this.currentTest;
  if (test?.state !== 'failed') return;
  const name = test
    .fullTitle()
    .replaceAll(/[^\w]+/g, '-')
    .slice(0, 120);
  let number = 0;
  for (const window of openWindows()) {
    number += 1;
    await window.screenshot(`failed/${name}-${number}`).catch(() => undefined);
  }
});

after('no window leaves a process or a port behind', async function () {
  this.timeout(openingTimeoutMs);
  for (const window of openWindows()) await window.close();
  await assertNothingLeft();
});
