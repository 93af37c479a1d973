/** What the exit codes of `run` mean; the usage text and docs/debugging.md say the same. */
export const exitCodes = {
  /** Ended as asked: by a signal, by the editor, or after the number of messages that was asked for. */
  ended: 0,
  /** The server could not be used: the last line says why. */
  failed: 1,
  /** The command line or the launch file is wrong. */
  usage: 2,
  /** The handler file could not be loaded. */
  handlerFile: 3,
  /** The handler ended the process, or threw outside of any message. */
  handlerEndedProcess: 4,
  /** The editor that launched it is gone. */
  lifelineLost: 5,
} as const;
