/**
 * Whole values as read-only documents: each address says which field of which entry it is, so that VS Code can ask for it again
 * after a reload. Nothing is kept here; a document is read when it is opened.
 */
import * as vscode from 'vscode';
import { displayText } from '../base/byteText';
import type { Disposable } from '../base/disposables';
import { valueText } from './valueText';

/** The scheme of the documents' addresses. */
export const valueScheme = 'redis-streams-value';

/** Which value a document shows. */
export interface ValueAddress {
  readonly connectionId: string;
  readonly stream: string;
  readonly id: string;
  readonly field: number;
}

/** Reads a whole value with the name of its field; rejects with a message for people. */
export type ReadValue = (
  address: ValueAddress,
  signal: AbortSignal,
) => Promise<{ readonly name: string; readonly value: Uint8Array }>;

/** Provides the documents until disposed. */
export function registerValueDocuments(readValue: ReadValue): Disposable {
  return vscode.workspace.registerTextDocumentContentProvider(valueScheme, {
    provideTextDocumentContent: async (uri, token) => {
      const address = parseAddress(uri.query);
      if (!address) throw new Error(vscode.l10n.t('The address of this value cannot be read.'));
      const abort = new AbortController();
      const listener = token.onCancellationRequested(() => {
        abort.abort();
      });
      try {
        const { value } = await readValue(address, abort.signal);
        const { text, isCut } = valueText(value);
        return isCut ? `${text}\n${vscode.l10n.t('… the value has {0} bytes in all', value.length)}\n` : text;
      } finally {
        listener.dispose();
      }
    },
  });
}

/** Opens a value in an editor, with a language by its kind. */
export async function openValueDocument(address: ValueAddress, name: string, value: Uint8Array): Promise<void> {
  const extension = { json: 'json', text: 'txt', bytes: 'hex.txt' }[valueText(value).kind];
  const path = ['', address.stream, address.id, `${name}.${extension}`].map(pathPart).join('/');
  const uri = vscode.Uri.from({ scheme: valueScheme, path, query: JSON.stringify(address) });
  await vscode.commands.executeCommand('vscode.open', uri, { preview: true });
}

function pathPart(text: string): string {
  return displayText(text)
    .replace(/[\\/:]/g, '_')
    .slice(0, 80);
}

function parseAddress(query: string): ValueAddress | undefined {
  try {
    const address: unknown = JSON.parse(query);
    return isAddress(address) ? address : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isAddress(value: unknown): value is ValueAddress {
  if (typeof value !== 'object' || value === null) return false;
  const { connectionId, stream, id, field } = value as Readonly<Record<string, unknown>>;
  const areTexts = [connectionId, stream, id].every((text) => typeof text === 'string');
  return areTexts && Number.isSafeInteger(field) && Number(field) >= 0;
}
