// Cuts a stream of bytes into RESP frames, whatever the chunks, so that a proxy knows which command it forwards and where
// its reply ends. RESP2, RESP3 and inline commands; a frame's bytes are kept as they came.
// Tested by test/unit/respFrames.test.ts.

/** A complete request or reply. */
export interface RespFrame {
  readonly bytes: Buffer;
  /** The first byte: `*`, `$`, `+`, `>` ... */
  readonly type: string;
}

/** Finds the frames in chunks that come one by one; remembers an incomplete frame until its rest comes. */
export class RespFrameReader {
  private chunks: Buffer[] = [];
  /** How many elements each open aggregate still lacks, the innermost last. */
  private open: number[] = [];
  private skip = 0;
  private line: number[] = [];
  private type = '';

  /** The frames that `chunk` completes. */
  read(chunk: Buffer): RespFrame[] {
    const frames: RespFrame[] = [];
    let start = 0;
    let at = 0;
    while (at < chunk.length) {
      if (this.skip > 0) {
        const step = Math.min(this.skip, chunk.length - at);
        this.skip -= step;
        at += step;
        if (this.skip > 0 || !this.endElement()) continue;
      } else {
        const byte = chunk[at] ?? 0;
        at += 1;
        this.line.push(byte);
        if (byte !== newline || !this.endLine()) continue;
      }
      this.chunks.push(chunk.subarray(start, at));
      frames.push({ bytes: Buffer.concat(this.chunks), type: this.type });
      this.chunks = [];
      this.type = '';
      start = at;
    }
    if (start < chunk.length) this.chunks.push(chunk.subarray(start));
    return frames;
  }

  /** Whether the line that just ended completes the frame. */
  private endLine(): boolean {
    const text = Buffer.from(this.line).toString('latin1').trimEnd();
    this.line = [];
    const type = text.charAt(0);
    if (this.type === '') this.type = type;
    const size = Number(text.slice(1));
    if (bulkTypes.includes(type) && size >= 0) {
      this.skip = size + 2;
      return false;
    }
    if (aggregateTypes.includes(type) && size > 0) {
      this.open.push(type === '%' ? size * 2 : type === '|' ? size * 2 + 1 : size);
      return false;
    }
    return this.endElement();
  }

  private endElement(): boolean {
    for (;;) {
      const lacking = this.open.pop();
      if (lacking === undefined) return true;
      if (lacking > 1) {
        this.open.push(lacking - 1);
        return false;
      }
    }
  }
}

/** The words of a request frame: an array of bulk strings, or the words of an inline command. */
export function readWords(frame: RespFrame): Buffer[] {
  const { bytes } = frame;
  if (frame.type !== '*')
    return bytes
      .toString('latin1')
      .trim()
      .split(/\s+/)
      .map((word) => Buffer.from(word, 'latin1'));
  const words: Buffer[] = [];
  let at = bytes.indexOf(newline) + 1;
  while (at < bytes.length) {
    const start = bytes.indexOf(newline, at) + 1;
    const size = Number(bytes.toString('latin1', at + 1, start));
    words.push(bytes.subarray(start, start + size));
    at = start + size + 2;
  }
  return words;
}

const newline = 0x0a;
const bulkTypes = '$=!';
const aggregateTypes = '*%~>|';
