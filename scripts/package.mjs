// `npm run package`: makes dist/redis-streams-debugger.vsix from what `npm run build` left. Installed editors and the host
// tests take it from there.
// @ts-check

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createVSIX, listFiles, PackageManager } from '@vscode/vsce';
import { repository } from './lib/dependencies.mjs';
import { stage } from './lib/stage.mjs';

const packagePath = join(repository, 'dist', 'redis-streams-debugger.vsix');
const folder = stage();
mkdirSync(join(repository, 'dist'), { recursive: true });
await createVSIX({
  cwd: folder,
  packagePath,
  dependencies: false,
  allowMissingRepository: true,
  skipLicense: true,
  rewriteRelativeLinks: false,
});
const files = await listFiles({ cwd: folder, packageManager: PackageManager.None });
process.stdout.write(`${packagePath}: ${files.length} files\n`);
