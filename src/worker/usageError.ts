/** The command line, or the launch file that it names, is wrong; the message says what was expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
