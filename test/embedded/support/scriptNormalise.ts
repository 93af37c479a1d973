// Makes equal what two servers must answer differently when a script adds entries and looks at the clock.
import type { Wire } from './wireClient';

/** Ids of the server's own and clock times become words; so do idle times, which stand at known places of the scripts' replies. */
export function normaliseScripts(reply: Wire, command: readonly string[]): Wire {
  const isScript = command[0] === 'EVAL';
  return walk(reply, isScript);
}

function walk(reply: Wire, isScript: boolean): Wire {
  if (typeof reply === 'string') return normaliseText(reply);
  if (reply === null) return reply;
  if (Array.isArray(reply)) return walkList(reply as readonly Wire[], isScript);
  if ('error' in reply) return { error: reply.error.replace(/ on @user_script:\d+\.$/, ' on @user_script.') };
  if ('pairs' in reply) return { pairs: withoutNodeCount(reply.pairs).map((one) => walk(one, isScript)) };
  return reply;
}

function walkList(reply: readonly Wire[], isScript: boolean): Wire {
  const [first, second, third] = reply;
  if (isScript && (first === 'too-fresh' || first === 'delivered-later' || first === 'busy')) return [first, 'time'];
  const isTaken =
    isScript && (reply.length === 4 || reply.length === 5) && isId(first) && isNumber(second) && isNumber(third);
  const list = isTaken ? reply.map((one, at) => (at === 2 ? roundedIdle(one) : one)) : withoutNodeCount(reply);
  return list.map((one) => walk(one, isScript));
}

function withoutNodeCount(reply: readonly Wire[]): readonly Wire[] {
  const at = reply.indexOf('radix-tree-nodes');
  return at < 0 ? reply : reply.filter((_, index) => index !== at + 1);
}

function normaliseText(text: string): string {
  if (/^1\d{12}-\d+$/.test(text)) return 'id of the server';
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? 'time' : text;
}

/** Ages are multiples of 50 seconds, and a sequence takes less than half of that. */
function roundedIdle(idle: Wire): Wire {
  return typeof idle === 'string' ? String(Math.round(Number(idle) / 50_000)) : idle;
}

function isId(value: Wire | undefined): boolean {
  return typeof value === 'string' && /^\d+-\d+$/.test(value);
}

function isNumber(value: Wire | undefined): boolean {
  return typeof value === 'string' && /^-?\d+$/.test(value);
}
