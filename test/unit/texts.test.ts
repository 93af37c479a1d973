// How figures, times and names are written: durations, counts, Markdown, redis-cli lines, folders of keys.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { bytesToText, textToBytes } from '../../src/base/byteText';
import { formatDuration } from '../../src/base/duration';
import { escapeIcons } from '../../src/base/iconText';
import { englishLocalizer } from '../../src/base/localize';
import { escapeMarkdown, markdownCode } from '../../src/base/markdown';
import { formatCount } from '../../src/base/numberText';
import { redisCliLine } from '../../src/base/redisCli';
import { groupByPrefix } from '../../src/tree/folders';
import type { Grouped } from '../../src/tree/folders';

describe('durations', () => {
  const second = 1000;
  const minute = 60 * second;
  const hour = 60 * minute;
  const day = 24 * hour;
  const cases: readonly (readonly [number, string])[] = [
    [0, '< 1 s'],
    [-5, '< 1 s'],
    [Number.NaN, '< 1 s'],
    [999, '< 1 s'],
    [41 * second, '41 s'],
    [59_999, '59 s'],
    [3 * minute, '3 min'],
    [3 * minute + 20 * second, '3 min 20 s'],
    [41 * minute + 30 * second, '41 min'],
    [3 * hour + 12 * minute, '3 h 12 min'],
    [3 * hour + 30 * second, '3 h'],
    [2 * day + 4 * hour + 59 * minute, '2 d 4 h'],
    [400 * day, '400 d'],
  ];
  for (const [durationMs, text] of cases) {
    it(`writes ${durationMs} ms as ${text}`, () => {
      assert.equal(formatDuration(durationMs), text);
    });
  }
});

describe('counts', () => {
  it('groups thousands as the locale does, and falls back to English for a locale that is none', () => {
    assert.equal(formatCount(1204, 'en'), '1,204');
    assert.equal(formatCount(1204, 'de'), '1.204');
    assert.equal(formatCount(1204, 'not a locale'), '1,204');
  });
});

describe('sentences', () => {
  it('take their arguments by number', () => {
    assert.equal(englishLocalizer.t('{1} of {0}, {2}', 3, 'two'), 'two of 3, {2}');
  });
});

describe('Markdown', () => {
  const hostile = [
    '[click](command:workbench.action.quit)',
    '![x](https://example.com/a.png)',
    '<img src=x onerror=alert(1)>',
    '$(trash) **bold** `code`',
    'https://example.com',
    'a\n\n# b',
    '&lt;b&gt;',
  ];
  for (const text of hostile) {
    it(`keeps ${JSON.stringify(text)} literal`, () => {
      const escaped = escapeMarkdown(text);
      assert.doesNotMatch(escaped.replace(/&#\d+;/g, ''), /[[\]()<>*`$!:#&\n]/);
      const decoded = escaped.replace(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)));
      assert.equal(decoded, text.replace(/\s+/g, ' '));
    });
  }

  it('fences code so that back quotes in it cannot end it', () => {
    assert.equal(markdownCode('XLEN'), '`XLEN`');
    assert.equal(markdownCode('a``b'), '```a``b```');
    assert.equal(markdownCode('`'), '`` ` ``');
  });
});

describe('icon texts', () => {
  it('stay text', () => {
    assert.equal(escapeIcons('a $(trash) b'), String.raw`a \$(trash) b`);
  });
});

describe('redis-cli lines', () => {
  /** What a POSIX shell makes of the line's words. */
  const shellWords = (line: string): string[] =>
    execFileSync('sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'buffer' })
      .toString('utf8')
      .split('\0')
      .slice(0, -1);

  it('are plain where they can be', () => {
    assert.equal(
      redisCliLine(['-u', 'redis://127.0.0.1:6379'], ['XPENDING', 'orders:eu', 'g', '-', '+', '10']),
      'redis-cli -u redis://127.0.0.1:6379 XPENDING orders:eu g - + 10',
    );
  });

  it('give the shell back exactly the words, whatever is in them', () => {
    const words = ["it's", '$(rm -rf /)', '`id`', '"quoted"', 'a b', '', '*', '\\', 'ключ'];
    assert.deepEqual(shellWords(redisCliLine([], ['XLEN', ...words])), ['redis-cli', 'XLEN', ...words]);
  });

  it('quote bytes that a shell or terminal would not keep in the way of redis-cli', () => {
    const binary = bytesToText(Buffer.from([0xff, 0x00, 0x22, 0x5c, 0x0a]));
    assert.deepEqual([...textToBytes(binary)], [0xff, 0x00, 0x22, 0x5c, 0x0a]);
    const line = redisCliLine([], ['XLEN', binary]);
    assert.deepEqual(shellWords(line), ['redis-cli', '--quoted-input', 'XLEN', String.raw`"\xff\x00\"\\\x0a"`]);
    assert.match(redisCliLine([], ['XLEN', '\u202egnp']), /--quoted-input XLEN '"\\xe2\\x80\\xaegnp"'/);
  });
});

describe('folders of keys', () => {
  const grouped = (keys: readonly string[], separator = ':', prefix = ''): readonly string[] =>
    groupByPrefix(keys, (key) => key, separator, prefix).map((one: Grouped<string>) =>
      one.kind === 'item' ? one.item : `${one.label}[${one.items.join(' ')}]`,
    );

  it('hold what at least two keys share, sorted among the keys that are alone', () => {
    assert.deepEqual(grouped(['b:2', 'a', 'b:1', 'c:1']), ['a', 'b:[b:1 b:2]', 'c:1']);
  });
  it('join levels that hold nothing but one folder', () => {
    assert.deepEqual(grouped(['a:b:c', 'a:b:d']), ['a:b:[a:b:c a:b:d]']);
  });
  it('are told below a prefix without it', () => {
    assert.deepEqual(grouped(['a:b:c', 'a:b:d', 'a:e'], ':', 'a:'), ['b:[a:b:c a:b:d]', 'a:e']);
  });
  it('do not exist without a separator, nor for keys that end with it', () => {
    assert.deepEqual(grouped(['a:1', 'a:2'], ''), ['a:1', 'a:2']);
    assert.deepEqual(grouped(['a:', 'b:']), ['a:', 'b:']);
    assert.deepEqual(grouped([]), []);
  });
  it('end where something must follow in every key', () => {
    assert.deepEqual(grouped(['a:b:', 'a:b:c']), ['a:[a:b: a:b:c]']);
    assert.deepEqual(grouped(['a:b:', 'a:b:']), ['a:[a:b: a:b:]']);
    assert.deepEqual(grouped(['a::b', 'a::c']), ['a::[a::b a::c]']);
  });
  it('are found in keys of ten thousands of separators', () => {
    const shared = ':'.repeat(50_000);
    const [folder, ...others] = groupByPrefix([`${shared}x`, `${shared}y`], (key) => key, ':');
    assert.equal(folder?.kind === 'folder' ? folder.prefix : undefined, shared);
    assert.deepEqual(others, []);
  });
  it('take separators of several characters and hostile keys', () => {
    assert.deepEqual(grouped(['__proto__', '__proto__', 'a::b', 'a::c'], '::'), [
      '__proto__',
      '__proto__',
      'a::[a::b a::c]',
    ]);
  });
});
