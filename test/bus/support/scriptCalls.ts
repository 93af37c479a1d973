// Recognises calls of a script on the wire, for the fault proxy.
import { allScripts } from '../../../src/bus';

/** Matches EVAL and EVALSHA of the script of that name. */
export function isScriptCall(name: (typeof allScripts)[number]['name']): (words: readonly Buffer[]) => boolean {
  const script = allScripts.find((candidate) => candidate.name === name);
  if (!script) throw new Error(`There is no script ${name}`);
  return ([command, what]) => {
    const word = String(command).toUpperCase();
    if (word === 'EVALSHA') return String(what) === script.sha1;
    return word === 'EVAL' && String(what) === script.text;
  };
}
