// Where the repository lies. Knows nothing else.
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The absolute path of the repository's root folder. */
export const repositoryRoot = resolve(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
