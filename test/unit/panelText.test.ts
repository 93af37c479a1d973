/** What the panels' pages work out without a browser: texts, figures, times, ids, JSON lines, and the window of rows. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { EntryRow } from '../../src/protocol/streamPanel';
import { compareEntryIds, parseEntryId } from '../../webview/entryIds';
import {
  figureNumber,
  formatBytes,
  formatCount,
  formatDuration,
  formatFullTime,
  formatNumber,
  formatTime,
} from '../../webview/format';
import { setLanguage, t } from '../../webview/l10n';
import { escapeCharacter, splitUnsafe } from '../../webview/safeText';
import { addNewer, addOlder, indexOfEntry, maxWindowRows, nearestIndex } from '../../webview/stream/entriesWindow';
import { jsonLines, visibleLines } from '../../webview/stream/jsonLines';
import { parseJumpTarget } from '../../webview/stream/jumpTarget';

afterEach(() => {
  setLanguage('en', {});
});

describe('translations', () => {
  it('are looked up whole, and values are put in where the translation has them', () => {
    setLanguage('de', { '{0} of {1}': '{1}, davon {0}' });
    assert.equal(t('{0} of {1}', 3, 'zehn'), 'zehn, davon 3');
    assert.equal(t('unknown {0}', 1), 'unknown 1');
  });

  it('take no names from the prototype and leave placeholders without a value', () => {
    assert.equal(t('toString'), 'toString');
    assert.equal(t('__proto__'), '__proto__');
    assert.equal(t('{0} {1}', 'a{1}'), 'a{1} {1}');
  });

  it('fall back to English formats for a locale that is none', () => {
    setLanguage('not a locale!', {});
    assert.equal(formatNumber(1234.5), '1,234.5');
  });
});

describe('figures', () => {
  it('group thousands as the locale does', () => {
    setLanguage('de', {});
    assert.equal(formatNumber(1_204_000), '1.204.000');
  });

  it('say at least, and have no number when unknown', () => {
    assert.equal(figureNumber({ kind: 'atLeast', value: 12_001, source: '' }), '≥ 12,001');
    assert.equal(figureNumber({ kind: 'exact', value: 0, source: '' }), '0');
    assert.equal(figureNumber({ kind: 'unknown', reason: '' }), null);
  });

  it('count one and many', () => {
    assert.equal(formatCount(1, '{0} entry', '{0} entries'), '1 entry');
    assert.equal(formatCount(0, '{0} entry', '{0} entries'), '0 entries');
  });

  it('write sizes in B, KB and MB', () => {
    assert.deepEqual([0, 1023, 1024, 1536, 10_485_760].map(formatBytes), [
      '0 B',
      '1,023 B',
      '1.0 KB',
      '1.5 KB',
      '10.0 MB',
    ]);
  });

  const durations: readonly (readonly [number, string])[] = [
    [0, '0 ms'],
    [850, '850 ms'],
    [1200, '1.2 s'],
    [41_000, '41 s'],
    [61_000, '1 min 1 s'],
    [3 * 3_600_000 + 12 * 60_000 + 59_000, '3 h 12 min'],
    [2 * 86_400_000 + 4 * 3_600_000, '2 d 4 h'],
    [86_400_000, '1 d'],
    [-5, '0 ms'],
  ];
  for (const [ms, text] of durations) {
    it(`write ${ms} ms as ${text}`, () => {
      assert.equal(formatDuration(ms), text);
    });
  }
});

describe('times', () => {
  const ms = Date.UTC(2026, 10, 29, 16, 7, 33, 5);

  it('leave out the date only on the same day, and tell the zone in full', () => {
    assert.equal(formatTime(ms, 'utc', ms + 1000), '16:07:33.005');
    assert.equal(formatTime(ms, 'utc', ms + 86_400_000), '2026-11-29 16:07:33.005');
    assert.equal(formatFullTime(ms, 'utc'), '2026-11-29 16:07:33.005 UTC');
    assert.match(formatFullTime(ms, 'local'), /^2026-11-\d\d \d\d:07:33\.005 .+ \(UTC[+−]\d\d:\d\d\)$/);
  });
});

describe('a jump target', () => {
  const now = { ms: Date.UTC(2026, 10, 29, 16, 7, 33, 5), zone: 'utc' as const };
  const at = (
    ...parts: [number, number, number, number?, number?, number?, number?]
  ): { kind: 'time'; ms: number } => ({
    kind: 'time',
    ms: Date.UTC(...parts),
  });
  const targets: readonly (readonly [string, ReturnType<typeof parseJumpTarget>])[] = [
    ['1700000000000-3', { kind: 'id', id: '1700000000000-3', exact: true }],
    [' 1700000000000 ', { kind: 'id', id: '1700000000000-0', exact: false }],
    [
      '18446744073709551615-18446744073709551615',
      { kind: 'id', id: '18446744073709551615-18446744073709551615', exact: true },
    ],
    ['newest', { kind: 'end', end: 'newest' }],
    ['Oldest', { kind: 'end', end: 'oldest' }],
    ['15 min ago', { kind: 'time', ms: now.ms - 900_000 }],
    ['2 hours 30 minutes ago', { kind: 'time', ms: now.ms - 9_000_000 }],
    ['1.5d ago', { kind: 'time', ms: now.ms - 129_600_000 }],
    ['16:07', at(2026, 10, 29, 16, 7)],
    ['9:07:05.25', at(2026, 10, 29, 9, 7, 5, 250)],
    ['2026-11-28', at(2026, 10, 28)],
    ['2026-11-28 04:05', at(2026, 10, 28, 4, 5)],
    ['2026-11-28T04:05:06.789Z', at(2026, 10, 28, 4, 5, 6, 789)],
    ['2026-11-28T04:05:06+02:00', at(2026, 10, 28, 2, 5, 6)],
  ];
  for (const [text, target] of targets) {
    it(`is read from "${text}"`, () => {
      assert.deepEqual(parseJumpTarget(text, now), target);
    });
  }

  for (const text of [
    '',
    'soon',
    '18446744073709551616',
    '-1',
    '1-2-3',
    '2026-02-30',
    '25:00',
    '16:60',
    '5 parsecs ago',
    '1e3',
    '0x10',
    'ago',
  ]) {
    it(`is not read from "${text}"`, () => {
      assert.equal(parseJumpTarget(text, now), undefined);
    });
  }

  it('reads what the table shows, in either zone', () => {
    for (const zone of ['utc', 'local'] as const) {
      const shown = formatTime(now.ms, zone, 0);
      assert.deepEqual(parseJumpTarget(shown, { ms: now.ms, zone }), { kind: 'time', ms: now.ms });
    }
  });
});

describe('entry ids in a page', () => {
  it('compare beyond 2^53', () => {
    assert.ok(compareEntryIds('9007199254740993-0', '9007199254740992-0') > 0);
    assert.ok(compareEntryIds('1-9', '1-10') < 0);
    assert.equal(compareEntryIds('5-0', '5-0'), 0);
    assert.equal(parseEntryId('007-01'), '7-1');
  });
});

describe('unsafe text', () => {
  it('is split at what hides, reorders or breaks text; lines stay when they may', () => {
    assert.deepEqual(splitUnsafe('a\u202eb\nc', true), [
      { kind: 'text', text: 'a' },
      { kind: 'escape', text: '\\u202e' },
      { kind: 'text', text: 'b\nc' },
    ]);
    assert.deepEqual(splitUnsafe('\n', false), [{ kind: 'escape', text: '\\n' }]);
    assert.deepEqual(splitUnsafe('שלום 😀', false), [{ kind: 'text', text: 'שלום 😀' }]);
    assert.equal(escapeCharacter('\udcff'), '\\xff');
  });
});

describe('JSON lines', () => {
  const pretty = (source: string): string | undefined =>
    jsonLines(source)
      ?.map(
        ({ depth, name, text, comma }) =>
          `${'  '.repeat(depth)}${name === null ? '' : `${name}: `}${text}${comma ? ',' : ''}`,
      )
      .join('\n');

  it('keep digits, escapes, order and repeated names', () => {
    assert.equal(
      pretty(' {"a":[1.50,9007199254740993,{ }],"a":"\\u0041, {x}","__proto__":[],"":null} '),
      `{
  "a": [
    1.50,
    9007199254740993,
    {}
  ],
  "a": "\\u0041, {x}",
  "__proto__": [],
  "": null
}`,
    );
  });

  it('say the same as the source, for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const source = JSON.stringify(value);
        assert.equal(JSON.stringify(JSON.parse(pretty(source) ?? '')), source);
      }),
    );
  });

  it('are null for what is no JSON', () => {
    for (const source of ['', '{', '[1,]', 'NaN', "{'a':1}", '{"a":1} x'])
      assert.equal(jsonLines(source), null, source);
  });

  it('fold between an opening and its closing line', () => {
    const lines = jsonLines('{"a":[1,2],"b":{"c":3}}') ?? [];
    assert.deepEqual([lines[1]?.end, lines[1]?.size, lines[0]?.end, lines[0]?.size], [4, 2, 8, 2]);
    assert.deepEqual(visibleLines(lines, (index) => index === 1, 100).indexes, [0, 1, 5, 6, 7, 8]);
    assert.deepEqual(
      visibleLines(lines, (index) => index === 0, 100),
      { indexes: [0], total: 1 },
    );
    assert.deepEqual(
      visibleLines(lines, () => false, 3),
      { indexes: [0, 1, 2], total: 9 },
    );
  });

  it('are made of thirty thousand nested arrays without recursion', () => {
    const depth = 30_000;
    assert.equal(jsonLines(`${'['.repeat(depth)}1${']'.repeat(depth)}`)?.length, 2 * depth + 1);
  });
});

describe('the window of rows', () => {
  const row = (id: string): EntryRow => ({ id, timeMs: null, fieldCount: 0, bytes: 0, preview: [] });
  const ids = (from: number, to: number): EntryRow[] =>
    Array.from({ length: from - to + 1 }, (_, index) => row(`7-${from - index}`));
  const window = { rows: ids(50, 41), hasNewer: true, hasOlder: true };

  it('grows at both ends without gaps or repeats, also within one millisecond', () => {
    const older = addOlder(window, { entries: ids(43, 31), hasOlder: false, hasNewer: true });
    assert.deepEqual(older, { rows: ids(50, 31), hasNewer: true, hasOlder: false });
    const newer = addNewer(older, { entries: ids(55, 48), hasOlder: true, hasNewer: false });
    assert.deepEqual(newer, { rows: ids(55, 31), hasNewer: false, hasOlder: false });
  });

  it('lets the far end go when it grows too large, and knows that there is more', () => {
    const large = { rows: ids(maxWindowRows, 1), hasNewer: false, hasOlder: true };
    const older = addOlder(large, { entries: [row('6-9'), row('6-8')], hasOlder: false, hasNewer: true });
    assert.deepEqual(
      [older.rows.length, older.rows[0]?.id, older.hasNewer],
      [maxWindowRows, `7-${maxWindowRows - 2}`, true],
    );
    const newer = addNewer(older, { entries: [row('8-1')], hasOlder: true, hasNewer: false });
    assert.deepEqual([newer.rows.length, newer.rows.at(-1)?.id, newer.hasOlder], [maxWindowRows, '6-9', true]);
  });

  it('finds an id, and the nearest to one that is not there', () => {
    assert.equal(indexOfEntry(window, '7-45'), 5);
    assert.equal(indexOfEntry(window, '7-0'), -1);
    assert.equal(indexOfEntry(window, '8-0'), -1);
    const gaps = { ...window, rows: [row('9-0'), row('7-0'), row('5-0')] };
    assert.equal(nearestIndex(gaps, '6-0'), 1, 'the oldest at or after it');
    assert.equal(nearestIndex(gaps, '1-0'), 2);
    assert.equal(nearestIndex(gaps, '10-0'), 0);
    assert.equal(nearestIndex({ ...gaps, rows: [] }, '1-0'), -1);
  });
});
