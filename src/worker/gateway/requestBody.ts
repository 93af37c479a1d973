/** Why a body could not be read: the status that says so, and a sentence. */
export interface UnreadableBody {
  readonly status: 400 | 413 | 415;
  readonly message: string;
}

/** Reads a JSON body of at most so many bytes; never more of it than that is held. */
export async function readJsonBody(
  request: Request,
  maxBytes: number,
): Promise<{ readonly json: unknown } | { readonly unreadable: UnreadableBody }> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') return unreadable(415, 'The content type is not application/json');
  const tooLarge = unreadable(413, `The body is larger than ${maxBytes} bytes`);
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) return tooLarge;
  let bytes: Buffer | undefined;
  try {
    bytes = await readBytes(request, maxBytes);
  } catch {
    return unreadable(400, 'The body ended before it was complete');
  }
  if (bytes === undefined) return tooLarge;
  try {
    return { json: JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as unknown };
  } catch {
    // The parser's own message quotes the text.
    return unreadable(400, 'The body is not JSON in UTF-8');
  }
}

async function readBytes(request: Request, maxBytes: number): Promise<Buffer | undefined> {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = request.body?.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    chunks.push(value);
  }
  return Buffer.concat(chunks);
}

function unreadable(status: UnreadableBody['status'], message: string): { readonly unreadable: UnreadableBody } {
  return { unreadable: { status, message } };
}
