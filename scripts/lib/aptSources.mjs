// Where this Debian machine gets its packages from, so that packages of other suites can be asked for at the same place.
// Reads both formats of apt's sources. Tested by test/unit/serverScripts.test.ts.
// @ts-check

import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ uri: string, options: Record<string, string> }} PackageSource */

/**
 * The sources of the machine's own suite, component main, in the order in which apt reads them.
 * @param {string} [root] the file system to look at
 * @returns {PackageSource[]}
 */
export function readPackageSources(root = '/') {
  const suite = readSuite(root);
  if (suite === undefined) return [];
  return sourceTexts(root).flatMap(({ name, text }) => parseSources(text, name.endsWith('.sources'), suite));
}

/**
 * A deb822 stanza that asks `source` for another suite.
 * @param {PackageSource} source
 * @param {string} suite
 * @param {string} architecture
 * @returns {string}
 */
export function stanzaFor(source, suite, architecture) {
  const options = Object.entries(source.options).map(([name, value]) => `${name}: ${value}\n`);
  return `Types: deb\nURIs: ${source.uri}\nSuites: ${suite}\nComponents: main\nArchitectures: ${architecture}\n${options.join('')}\n`;
}

/**
 * The package sources that a file names for `suite`.
 * @param {string} text
 * @param {boolean} isDeb822
 * @param {string} suite
 * @returns {PackageSource[]}
 */
export function parseSources(text, isDeb822, suite) {
  return isDeb822 ? parseStanzas(text, suite) : parseLines(text, suite);
}

/**
 * @param {string} root
 * @returns {string | undefined}
 */
function readSuite(root) {
  const release = readOptional(join(root, 'etc/os-release'));
  if (!/^ID="?debian"?$/m.test(release)) return undefined;
  return /^VERSION_CODENAME="?([\w-]+)"?$/m.exec(release)?.[1];
}

/**
 * @param {string} root
 * @returns {{ name: string, text: string }[]}
 */
function sourceTexts(root) {
  const folder = join(root, 'etc/apt/sources.list.d');
  const names = (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.sources') || name.endsWith('.list'))
    .sort();
  const paths = [join(root, 'etc/apt/sources.list'), ...names.map((name) => join(folder, name))];
  return paths.map((path) => ({ name: path, text: readOptional(path) }));
}

/**
 * @param {string} text
 * @param {string} suite
 * @returns {PackageSource[]}
 */
function parseStanzas(text, suite) {
  return text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n')
    .split(/\n\s*\n/)
    .map(readFields)
    .filter(
      (fields) =>
        fields.get('enabled') !== 'no' &&
        words(fields.get('types')).includes('deb') &&
        words(fields.get('suites')).includes(suite) &&
        words(fields.get('components')).includes('main'),
    )
    .flatMap((fields) => words(fields.get('uris')).map((uri) => ({ uri, options: keepOptions(fields) })));
}

/**
 * @param {string} stanza
 * @returns {Map<string, string>}
 */
function readFields(stanza) {
  /** @type {Map<string, string>} */
  const fields = new Map();
  let current = '';
  for (const line of stanza.split('\n').filter((text) => text !== '')) {
    const match = /^([\w-]+):(.*)$/.exec(line);
    if (match?.[1] !== undefined) current = match[1].toLowerCase();
    const value = match?.[2] ?? line;
    const before = fields.get(current);
    fields.set(current, before === undefined ? value.trim() : `${before}\n${match ? value.trim() : value}`);
  }
  return fields;
}

/**
 * @param {string} text
 * @param {string} suite
 * @returns {PackageSource[]}
 */
function parseLines(text, suite) {
  return text.split('\n').flatMap((line) => {
    const match = /^deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(.+)$/.exec(line.trim());
    const [, options = '', uri = '', lineSuite = '', components = ''] = match ?? [];
    if (lineSuite !== suite || !words(components).includes('main')) return [];
    const fields = new Map(words(options).map((option) => splitOption(option)));
    return [{ uri, options: keepOptions(fields) }];
  });
}

/**
 * @param {string} option
 * @returns {[string, string]}
 */
function splitOption(option) {
  const equals = option.indexOf('=');
  return [option.slice(0, equals).toLowerCase(), option.slice(equals + 1)];
}

/**
 * What a source says about trust, which holds for its other suites too.
 * @param {Map<string, string>} fields
 * @returns {Record<string, string>}
 */
function keepOptions(fields) {
  /** @type {Record<string, string>} */
  const kept = {};
  for (const name of ['Signed-By', 'Trusted']) {
    const value = fields.get(name.toLowerCase());
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/**
 * @param {string | undefined} text
 * @returns {string[]}
 */
function words(text) {
  return (text ?? '').split(/\s+/).filter((word) => word !== '');
}

/**
 * @param {string} path
 * @returns {string}
 */
function readOptional(path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}
