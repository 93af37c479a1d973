/** The bundle that translators start from holds every text of the code, and every text can be found in the code. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { bundleFile, collectTexts } from '../../scripts/lib/l10n.mjs';

describe('The texts for translators', () => {
  it('are those of the code, each given as a literal', function () {
    this.timeout(30_000);
    const { bundle, problems } = collectTexts();
    assert.deepEqual(problems, []);
    assert.ok(Object.keys(bundle).length > 100, 'the texts were found');
    const kept = JSON.parse(readFileSync(bundleFile, 'utf8')) as unknown;
    assert.deepEqual(kept, bundle, 'l10n/bundle.l10n.json is out of date: run npm run l10n');
  });
});
