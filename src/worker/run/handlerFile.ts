import { existsSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Handler } from '../../bus';
import { thrownText } from './logLines';

/** A handler file that cannot be used; the message says why and what to do. */
export class HandlerFileError extends Error {
  override readonly name = 'HandlerFileError';

  static is(error: unknown): error is HandlerFileError {
    return error instanceof HandlerFileError;
  }
}

/** Loads a handler: the default export of the file, or its export `handle`. ES modules and CommonJS; TypeScript where Node runs it. */
export async function loadHandlerFile(file: string): Promise<Handler> {
  if (!existsSync(file)) throw new HandlerFileError(`There is no handler file ${file}`);
  let exported: unknown;
  try {
    exported = await import(pathToFileURL(file).href);
  } catch (error) {
    throw new HandlerFileError(whyNotLoaded(file, error), { cause: error });
  }
  const handler = findHandler(exported);
  if (handler) return handler;
  const found = exportNames(exported);
  const names = found.length > 0 ? `; it exports ${found.join(', ')}` : '; it exports nothing';
  throw new HandlerFileError(
    `The handler file ${file} has no handler${names}. Expected "export default async function (message, context) { … }", ` +
      'an export named handle, or module.exports = a function',
  );
}

function findHandler(exported: unknown): Handler | undefined {
  const module = propertiesOf(exported);
  // A CommonJS module arrives as the default export, and one that was compiled from an ES module has its own default below that.
  const inner = propertiesOf(module.default);
  const candidates = [module.default, module.handle, inner.default, inner.handle];
  return candidates.find((candidate): candidate is Handler => typeof candidate === 'function');
}

function exportNames(exported: unknown): readonly string[] {
  const module = propertiesOf(exported);
  const names = new Set([...Object.keys(module), ...Object.keys(propertiesOf(module.default))]);
  return [...names]
    .filter((name) => name !== 'default' && name !== 'module.exports' && name !== '__esModule')
    .slice(0, 10);
}

function propertiesOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function whyNotLoaded(file: string, error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  const isTypeScript = /\.[cm]?tsx?$/.test(file);
  if (isTypeScript && (code === 'ERR_UNKNOWN_FILE_EXTENSION' || code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX')) {
    return (
      `Node ${process.versions.node} cannot run the TypeScript of ${path.basename(file)}. Use Node 22.18 or later as runtimeExecutable, ` +
      'a loader such as "runtimeArgs": ["--import=tsx"], or name the compiled JavaScript file as handler; ' +
      'breakpoints in the TypeScript are hit by its source map'
    );
  }
  return `The handler file ${file} failed while it was loaded: ${thrownText(error)}`;
}
