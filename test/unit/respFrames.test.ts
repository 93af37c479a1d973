import assert from 'node:assert/strict';
import fc from 'fast-check';
import { RespFrameReader, readWords } from '../support/respFrames';

describe('RespFrameReader', () => {
  const read = (...chunks: string[]): string[] => {
    const reader = new RespFrameReader();
    return chunks.flatMap((chunk) =>
      reader.read(Buffer.from(chunk, 'latin1')).map(({ bytes }) => bytes.toString('latin1')),
    );
  };

  it('separates pipelined requests', () => {
    const ping = '*1\r\n$4\r\nPING\r\n';
    const ack = '*4\r\n$4\r\nXACK\r\n$1\r\ns\r\n$1\r\ng\r\n$3\r\n1-0\r\n';
    assert.deepEqual(read(ping + ack + ping), [ping, ack, ping]);
  });

  it('keeps an incomplete frame until its rest comes', () => {
    const reader = new RespFrameReader();
    assert.deepEqual(reader.read(Buffer.from('*2\r\n$3\r\nGE')), []);
    assert.deepEqual(reader.read(Buffer.from('T\r\n$1\r\nk\r')), []);
    assert.equal(reader.read(Buffer.from('\n'))[0]?.bytes.toString(), '*2\r\n$3\r\nGET\r\n$1\r\nk\r\n');
  });

  it('takes a bulk string for bytes, whatever is in it', () => {
    const request = '*2\r\n$4\r\nECHO\r\n$12\r\n\r\n*1\r\n$4\r\nP\0\r\n';
    assert.deepEqual(read(request), [request]);
  });

  it('knows nested, empty and nil replies of RESP2 and RESP3', () => {
    const replies = [
      '+OK\r\n',
      '-NOGROUP No such key\r\n',
      ':1\r\n',
      '$-1\r\n',
      '$0\r\n\r\n',
      '*0\r\n',
      '*-1\r\n',
      '_\r\n',
      '*2\r\n*2\r\n$1\r\na\r\n*0\r\n*1\r\n*-1\r\n',
      '%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n_\r\n',
      '~2\r\n#t\r\n,1.5\r\n',
      '=7\r\ntxt:a\r\n\r\n',
      '!5\r\nERR x\r\n',
      '|1\r\n+ttl\r\n:1\r\n*1\r\n:2\r\n',
      '>3\r\n+message\r\n+c\r\n+m\r\n',
    ];
    assert.deepEqual(read(replies.join('')), replies);
  });

  it('finds the same frames however the bytes are cut', () => {
    const words = fc.array(fc.uint8Array({ maxLength: 20 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(words, { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
        (requests, sizes) => {
          const encoded = requests.map((request) => encode(request));
          const bytes = Buffer.concat(encoded);
          const reader = new RespFrameReader();
          const frames = [];
          for (let at = 0, turn = 0; at < bytes.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            frames.push(...reader.read(bytes.subarray(at, at + size)));
            at += size;
          }
          assert.deepEqual(
            frames.map((frame) => frame.bytes),
            encoded,
          );
          assert.deepEqual(
            frames.map((frame) => readWords(frame)),
            requests.map((request) => request.map((word) => Buffer.from(word))),
          );
        },
      ),
    );
  });
});

describe('readWords', () => {
  const readOne = (text: string): string[] => {
    const [frame] = new RespFrameReader().read(Buffer.from(text));
    assert.ok(frame);
    return readWords(frame).map(String);
  };

  it('reads an array of bulk strings', () => {
    assert.deepEqual(readOne('*3\r\n$4\r\nXLEN\r\n$0\r\n\r\n$3\r\na\r\n\r\n'), ['XLEN', '', 'a\r\n']);
  });

  it('reads an inline command', () => {
    assert.deepEqual(readOne('xlen  orders\r\n'), ['xlen', 'orders']);
  });
});

function encode(words: readonly Uint8Array[]): Buffer {
  return Buffer.concat([
    Buffer.from(`*${words.length}\r\n`),
    ...words.flatMap((word) => [Buffer.from(`$${word.length}\r\n`), Buffer.from(word), Buffer.from('\r\n')]),
  ]);
}
