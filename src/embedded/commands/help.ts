import type { Reply } from '../reply';
import { Status } from '../reply';

/** The reply of a container's HELP. */
export function helpReply(container: string, lines: readonly string[]): Reply {
  return [
    `${container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:`,
    ...lines,
    'HELP',
    '    Prints this help.',
  ].map((line) => new Status(line));
}
