import assert from 'node:assert/strict';
import fc from 'fast-check';
import { bytesToText, displayText, isUtf8, textToBytes } from '../../src/base/byteText';

describe('text that holds any bytes', () => {
  it('comes back as the same bytes', () => {
    fc.assert(fc.property(fc.uint8Array(), (bytes) => assert.ok(textToBytes(bytesToText(bytes)).equals(bytes))));
  });

  it('is the ordinary text where the bytes are UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        assert.equal(bytesToText(Buffer.from(text)), text);
        assert.ok(isUtf8(Buffer.from(text)));
      }),
    );
    assert.equal(bytesToText(Buffer.from('\ufeffa')), '\ufeffa');
  });

  it('keeps bytes apart that are no UTF-8: overlong forms, surrogates, cut and stray bytes', () => {
    const tricky = [[0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0x80], [0xff], [0xc3]];
    const texts = tricky.map((bytes) => bytesToText(Buffer.from(bytes)));
    assert.equal(new Set(texts).size, tricky.length);
    tricky.forEach((bytes, index) => {
      assert.equal(isUtf8(Buffer.from(bytes)), false);
      assert.deepEqual([...textToBytes(texts[index] ?? '')], bytes);
    });
  });

  it('is shown so that it cannot disguise itself', () => {
    assert.equal(displayText(''), '""');
    assert.equal(displayText('orders'), 'orders');
    assert.equal(displayText(bytesToText(Buffer.from([0x61, 0xff, 0]))), 'a\\xff\\x00');
    assert.equal(displayText('a\r\n\tb'), 'a\\r\\n\\tb');
    assert.equal(displayText('a\u202eb\u200b'), 'a\\u202eb\\u200b');
    assert.equal(displayText('günther 🐇'), 'günther 🐇');
  });
});
