/** How values, names and commands become what a panel shows: bounded, lossless where they must be, and harmless. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bytesToText } from '../../src/base/byteText';
import { streamKey } from '../../src/bus/ids';
import { hexDump } from '../../src/panels/hexDump';
import { prettyJson } from '../../src/panels/prettyJson';
import { commandLine, entryCommands, entryReply, quoteArgument, quoted } from '../../src/panels/redisCli';
import {
  cutUtf8,
  detailLimits,
  fieldViews,
  maxDumpBytes,
  maxPreviewChars,
  maxValueBytes,
  nameView,
  previewText,
  valueView,
} from '../../src/panels/values';
import { copiedValue, valueText } from '../../src/panels/valueText';

/** Reads a redis-cli line back as redis-cli does (sdssplitargs), the double-quoted and plain forms that we write. */
function readArguments(line: string): Buffer[] {
  const found: Buffer[] = [];
  for (const [, quotedBody, plain] of line.matchAll(/"((?:[^"\\]|\\.)*)"|([^\s"]+)/gs)) {
    if (plain !== undefined) {
      found.push(Buffer.from(plain, 'latin1'));
      continue;
    }
    const bytes: number[] = [];
    const simple: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, a: 7, b: 8 };
    for (const [all, hex, escaped] of (quotedBody ?? '').matchAll(/\\x([0-9a-f]{2})|\\(.)|[^\\]/gs)) {
      if (hex !== undefined) bytes.push(Number.parseInt(hex, 16));
      else if (escaped !== undefined) bytes.push(simple[escaped] ?? escaped.charCodeAt(0));
      else bytes.push(all.charCodeAt(0));
    }
    found.push(Buffer.from(bytes));
  }
  return found;
}

const anyBytes = fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes));

describe('redis-cli lines', () => {
  it('leave plain words plain and quote the rest', () => {
    assert.equal(commandLine('XRANGE', 'orders:{eu}', '1-0', '+'), 'XRANGE orders:{eu} 1-0 +');
    assert.equal(commandLine('XLEN', 'a b'), 'XLEN "a b"');
    assert.equal(quoteArgument(Buffer.alloc(0)), '""');
    assert.equal(quoteArgument(Buffer.from([0xff, 0x00, 0x22, 0x5c, 0x0a])), '"\\xff\\x00\\"\\\\\\n"');
    assert.equal(quoteArgument(Buffer.from('$(rm -rf)')), '"$(rm -rf)"');
  });

  it('give every byte back when redis-cli reads them', () => {
    fc.assert(
      fc.property(fc.array(anyBytes, { minLength: 1, maxLength: 5 }), (parts) => {
        const line = commandLine(...parts.map((part) => bytesToText(part)));
        assert.deepEqual(readArguments(line), parts);
      }),
    );
  });

  it('are one line each, whatever the names hold', () => {
    const lines = entryCommands(streamKey('a\nFLUSHALL'), '1-0', ['g\r\nFLUSHALL']);
    assert.equal(lines.length, 2);
    assert.ok(lines.every((line) => !/[\r\n]/.test(line)));
  });
});

describe('the raw reply', () => {
  it('is what redis-cli prints', () => {
    const { text, truncated } = entryReply('1-0', [Buffer.from('n'), Buffer.from('é\n')], 1000);
    assert.equal(text, '1) 1) "1-0"\n   2) 1) "n"\n      2) "\\xc3\\xa9\\n"');
    assert.equal(truncated, false);
  });

  it('ends early and says so when it is long', () => {
    const { text, truncated } = entryReply('1-0', [Buffer.from('n'), Buffer.alloc(1_000_000, 0xff)], 5000);
    assert.equal(truncated, true);
    assert.ok(text.length <= 5100, `${text.length}`);
    const many = entryReply(
      '1-0',
      Array.from({ length: 100_000 }, () => Buffer.from('abc')),
      5000,
    );
    assert.equal(many.truncated, true);
    assert.ok(many.text.length <= 5200, `${many.text.length}`);
  });

  it('says that there is no entry', () => {
    assert.equal(entryReply('1-0', null, 100).text, '(empty array)');
  });
});

describe('a value', () => {
  const view = (text: string): ReturnType<typeof valueView> => valueView(Buffer.from(text));

  it('is JSON only when it is an object or an array', () => {
    for (const text of ['{}', ' [1, 2]\n', '{"__proto__":1,"a":1,"a":2}']) assert.equal(view(text).kind, 'json', text);
    for (const text of ['1', '"x"', 'true', 'null', '{', '[1,]', '{a:1}', '', 'hello', '\ufeff{}'])
      assert.equal(view(text).kind, 'text', text);
  });

  it('keeps its text as it is, with direction and control characters', () => {
    const text = 'a\u202eb\u0007c\td\n<b>';
    assert.equal(view(text.repeat(3)).text, text.repeat(3));
  });

  it('is dumped when it is no text', () => {
    for (const bytes of [[0xff, 0xfe], [0], [0xc3], [...Buffer.from('a\0b')], [1, 2, 3]]) {
      const shown = valueView(Buffer.from(bytes));
      assert.equal(shown.kind, 'bytes');
      assert.equal(shown.text, hexDump(Buffer.from(bytes)));
    }
  });

  it('is cut at 64 KB, never within a character, and says its whole size', () => {
    const shown = valueView(Buffer.from('é'.repeat(5_000_000)));
    assert.deepEqual([shown.truncated, shown.bytes, shown.kind], [true, 10_000_000, 'text']);
    assert.equal(shown.text, 'é'.repeat(maxValueBytes / 2));
    const odd = valueView(Buffer.from(`x${'é'.repeat(100_000)}`));
    assert.equal(odd.text, `x${'é'.repeat(maxValueBytes / 2 - 1)}`);
    const dump = valueView(Buffer.alloc(10_000_000, 0xff));
    assert.deepEqual([dump.truncated, dump.text.split('\n').length], [true, maxDumpBytes / 16]);
  });

  it('that is JSON nested a hundred thousand times is taken as it is', () => {
    const deep = `${'['.repeat(30_000)}${']'.repeat(30_000)}`;
    assert.equal(view(deep).kind, 'json');
  });

  it('previews on one line of at most 200 characters, with escapes', () => {
    assert.equal(previewText(Buffer.from('a\nb\u202ec')), 'a\\nb\\u202ec');
    assert.equal(previewText(Buffer.from([0x89, 0x50, 0x4e])), '\\x89PN');
    assert.equal(previewText(Buffer.alloc(0)), '""');
    const long = previewText(Buffer.from('😀'.repeat(10_000)));
    assert.ok(long.length <= maxPreviewChars && long.endsWith('…'));
    assert.doesNotMatch(long, /[\ud800-\udbff](?![\udc00-\udfff])/, 'no half of a pair is left');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
        const text = previewText(bytes);
        assert.ok(text.length > 0 && text.length <= maxPreviewChars);
        assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });
});

describe('the fields of an entry', () => {
  const sizeOfViews = (views: ReturnType<typeof fieldViews>): number =>
    views.reduce((sum, { name, value }) => sum + name.text.length + name.display.length + value.text.length, 0);

  it('keep their order and repeated names', () => {
    const views = fieldViews(['a', '1', 'a', '2', '', ''].map((text) => Buffer.from(text)));
    assert.deepEqual(
      views.map(({ name, value }) => [name.display, value.text]),
      [
        ['a', '1'],
        ['a', '2'],
        ['""', ''],
      ],
    );
  });

  it('fit into one message, whatever the entry holds', () => {
    const large = Buffer.alloc(200_000, 0x61);
    const manyLarge = Array.from({ length: 2000 }, () => large);
    const manySmall = Array.from({ length: 20_000 }, () => Buffer.from('x'));
    for (const fields of [manyLarge, manySmall]) {
      const views = fieldViews(fields);
      assert.ok(views.length <= detailLimits.fields);
      assert.ok(sizeOfViews(views) < 900_000, `${sizeOfViews(views)}`);
      for (const { value } of views) assert.equal(value.truncated, value.bytes > Buffer.byteLength(value.text));
    }
  });
});

describe('names', () => {
  it('keep every byte in text and are safe to show', () => {
    const text = bytesToText(Buffer.from([0x61, 0xff, 0x0a]));
    assert.deepEqual(nameView(text), { text, display: 'a\\xff\\n' });
    assert.equal(nameView('').display, '""');
    assert.equal(nameView('x'.repeat(5000)).display.length, detailLimits.nameChars);
  });
});

describe('cutting', () => {
  it('leaves valid UTF-8 valid', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), fc.nat({ max: 60 }), (text, max) => {
        const bytes = Buffer.from(text);
        const cut = cutUtf8(bytes, max);
        assert.ok(cut.length <= max || cut.length === bytes.length);
        assert.ok(bytes.toString('utf8').startsWith(Buffer.from(cut).toString('utf8')));
      }),
    );
  });
});

describe('a whole value', () => {
  it('is indented without reading its numbers, escapes or names', () => {
    assert.equal(
      prettyJson('{"a":[1.50,9007199254740993,{}],"a":"\\u0041, {x}","__proto__":[ ]}'),
      `{
  "a": [
    1.50,
    9007199254740993,
    {}
  ],
  "a": "\\u0041, {x}",
  "__proto__": []
}`,
    );
  });

  it('says the same as before when it is indented', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify([value]);
        assert.equal(JSON.stringify(JSON.parse(prettyJson(text))), text);
      }),
    );
  });

  it('is text only when all of it is, also beyond what the detail shows', () => {
    const late = Buffer.concat([Buffer.alloc(maxValueBytes * 2, 0x61), Buffer.from([0xff])]);
    assert.equal(valueText(late).kind, 'bytes');
    assert.equal(valueText(Buffer.from('abc')).text, 'abc');
    assert.equal(valueText(Buffer.alloc(2 * 1024 * 1024, 1)).isCut, true);
  });

  it('is copied as text, or quoted so that redis-cli takes it back', () => {
    assert.equal(copiedValue(Buffer.from('{"a":1}')), '{"a":1}');
    assert.equal(copiedValue(Buffer.from([0xff, 0x00])), quoted(Buffer.from([0xff, 0x00])));
  });
});
