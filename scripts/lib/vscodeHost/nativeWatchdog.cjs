// Takes the place of the native module @vscode/native-watchdog in the cached VS Code server, which is installed without
// a compiler: it ends an extension host whose server is gone.
// @ts-check

'use strict';

/** @param {number} pid */
exports.start = (pid) => {
  const timer = setInterval(() => {
    try {
      process.kill(pid, 0);
    } catch {
      process.exit(87);
    }
  }, 1_000);
  timer.unref();
};

/** @param {number} code */
exports.exit = (code) => process.exit(code);
