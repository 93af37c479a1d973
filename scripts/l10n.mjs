// `npm run l10n`: writes the texts of the code to l10n/bundle.l10n.json.
// @ts-check

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { bundleFile, collectTexts } from './lib/l10n.mjs';

const { bundle, problems } = collectTexts();
mkdirSync(dirname(bundleFile), { recursive: true });
writeFileSync(bundleFile, `${JSON.stringify(bundle, null, 2)}\n`);
process.stdout.write(`${Object.keys(bundle).length} texts\n${problems.map((problem) => `${problem}\n`).join('')}`);
if (problems.length > 0) process.exitCode = 1;
