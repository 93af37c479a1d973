/**
 * From failures to BusErrors. The only file that reads what servers say in error replies: by its first word, and behind `ERR` by
 * the few sentences that tell kinds apart. Also reads what sockets and TLS say. No argument of a command gets into an error:
 * clients attach them, and old servers quote them.
 */
import { displayText } from '../../base/byteText';
import { BusError } from '../errors';
import type { BusErrorDetails, BusErrorReason } from '../errors';

/** What a command was doing when it failed: its name, and its key when it has one. */
export interface CommandContext {
  readonly command: string;
  readonly key?: string | undefined;
}

/** The error for an error reply. */
export function replyError(text: string, context: CommandContext): BusError {
  const said = withoutScriptFrames(text);
  const reason = reasonOf(said);
  const advice = adviceFor[reason];
  const details: BusErrorDetails = { command: context.command, ...redirectOf(said) };
  return new BusError(
    reason,
    `${subject(context)}: ${quote(said, reason)}${advice === undefined ? '' : ` ${advice}`}`,
    details,
  );
}

/** The error for a link that could not be made. `peer` is `host:port`. */
export function connectError(error: unknown, peer: string): BusError {
  const code = codeOf(error);
  const reason: BusErrorReason = isTlsCode(code) ? 'tls' : (reasonOfCode[code] ?? 'connection-lost');
  return new BusError(reason, `Cannot connect to ${peer}: ${whyOfCode(code, error)}`, {}, { cause: plainCause(error) });
}

/** The error for a call whose link ended. */
export function linkError(reason: BusErrorReason, why: string, context: CommandContext, ambiguous: boolean): BusError {
  const maybe = ambiguous ? ' It may have been carried out.' : ' It was not sent.';
  return new BusError(reason, `${subject(context)}: ${why}${maybe}`, { command: context.command, ambiguous });
}

/** The error for a reply that has not the shape that the command's documentation gives. */
export function shapeError(context: CommandContext, expected: string): BusError {
  return new BusError('protocol', `${subject(context)}: the reply is not ${expected}.`, { command: context.command });
}

/** The part of an error that is safe to keep as a cause: its message, without what clients attach to it. */
export function plainCause(error: unknown): Error | undefined {
  return error instanceof Error ? new Error(bounded(error.message)) : undefined;
}

function subject({ command, key }: CommandContext): string {
  return key === undefined ? `${command} failed` : `${command} on ${displayText(key)} failed`;
}

const reasonOfWord: Readonly<Record<string, BusErrorReason>> = {
  NOAUTH: 'authentication',
  WRONGPASS: 'authentication',
  NOPERM: 'no-permission',
  DENIED: 'no-permission',
  NOGROUP: 'no-group',
  BUSYGROUP: 'group-exists',
  WRONGTYPE: 'wrong-type',
  OOM: 'out-of-memory',
  READONLY: 'read-only-replica',
  MISCONF: 'writes-refused',
  NOREPLICAS: 'writes-refused',
  UNBLOCKED: 'unblocked',
  CROSSSLOT: 'cross-slot',
  MOVED: 'moved',
  ASK: 'moved',
  TRYAGAIN: 'moved',
  LOADING: 'loading',
  BUSY: 'loading',
  MASTERDOWN: 'loading',
  CLUSTERDOWN: 'loading',
  NOSCRIPT: 'unknown-script',
};

/** What stands behind `ERR` (or `Unknown …` inside a script), for the kinds that callers treat differently. */
const reasonOfSentence: readonly (readonly [RegExp, BusErrorReason])[] = [
  [/^unknown (?:sub)?command|^unknown redis command/i, 'unknown-command'],
  [/^no such key|requires the key to exist/i, 'no-key'],
  [/exhausted the last possible id/i, 'exhausted-ids'],
  [/equal or smaller than the target stream top item|must be greater than 0-0/i, 'id-not-greater'],
  [/^max number of clients/i, 'connection-refused'],
  [/invalid password|for 'auth' command/i, 'authentication'],
  [/can't (?:run|access)|^acl failure in script/i, 'no-permission'],
  [/non local key/i, 'cross-slot'],
];

function reasonOf(text: string): BusErrorReason {
  const word = /^-?([A-Z]+)(?= |$)/.exec(text)?.[1] ?? '';
  const byWord = reasonOfWord[word];
  if (byWord !== undefined) return byWord;
  const sentence = word === 'ERR' ? text.slice(text.indexOf('ERR') + 4) : text;
  return reasonOfSentence.find(([pattern]) => pattern.test(sentence))?.[1] ?? 'server';
}

/**
 * Servers before 7.0 wrap an error inside a script into one of their own: `ERR Error running script (call to f_…):
 * @user_script:1: NOGROUP …`. Later ones append where it happened.
 */
function withoutScriptFrames(text: string): string {
  const inner = /^ERR Error (?:running|compiling) script .*?(?:@user_script: ?\d+: -?)+(.*)$/s.exec(text);
  return (inner?.[1] ?? text).replace(/ script: [0-9a-f]{40}, on @\S+$/, '');
}

function redirectOf(text: string): Pick<BusErrorDetails, 'redirect'> {
  const match = /^(MOVED|ASK) (\d+) (.*):(\d+)$/.exec(text);
  if (!match) return {};
  const [, word, slot, host = '', port] = match;
  return { redirect: { kind: word === 'ASK' ? 'ask' : 'moved', slot: Number(slot), host, port: Number(port) } };
}

/** The server's own sentence, bounded, and without the arguments that it quotes. */
function quote(text: string, reason: BusErrorReason): string {
  const said = reason === 'unknown-command' ? text.replace(/,? with args beginning with:.*$/s, '') : text;
  const sentence = displayText(bounded(said));
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

const adviceFor: Partial<Readonly<Record<BusErrorReason, string>>> = {
  authentication: 'Check the user name and the password of this connection.',
  'no-permission': "Ask for this command or key in the user's ACL, or use another user.",
  'no-group': 'Create the group, or check its name.',
  'read-only-replica': 'This server is a replica; write to its master.',
  'out-of-memory': 'The server is at its maxmemory and refuses writes that need memory; nothing was changed.',
  'unknown-command': 'The server is older than this command, or it was renamed or disabled there.',
  'writes-refused': 'The server refuses writes for now; its log says why.',
  loading: 'Try again in a moment.',
};

const reasonOfCode: Readonly<Record<string, BusErrorReason>> = {
  ECONNREFUSED: 'connection-refused',
  ENOTFOUND: 'connection-refused',
  EAI_AGAIN: 'connection-refused',
  EHOSTUNREACH: 'connection-refused',
  ENETUNREACH: 'connection-refused',
  EACCES: 'connection-refused',
  EADDRNOTAVAIL: 'connection-refused',
  ETIMEDOUT: 'timeout',
};

function isTlsCode(code: string): boolean {
  return /^(?:ERR_SSL|ERR_TLS|ERR_OSSL|EPROTO|CERT_|UNABLE_TO_|DEPTH_ZERO|SELF_SIGNED|HOSTNAME_MISMATCH)/.test(code);
}

function whyOfCode(code: string, error: unknown): string {
  if (isTlsCode(code))
    return `the TLS handshake failed (${code}). Check that this port speaks TLS and that its certificate is trusted.`;
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there. Check host and port, and that the server runs.';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the host name is not known. Check its spelling and the network.';
    case 'ETIMEDOUT':
      return 'no answer in time. Check host and port, and firewalls between here and there.';
    case 'ECONNRESET':
      return 'the other side dropped the connection before it answered. If it speaks TLS, use rediss://.';
    default:
      return `${bounded(error instanceof Error ? error.message : String(error))}.`;
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // A host with several addresses fails with one error for each.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : [];
  return first === undefined ? '' : codeOf(first);
}

function bounded(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
