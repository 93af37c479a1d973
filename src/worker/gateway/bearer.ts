import { createHash, timingSafeEqual } from 'node:crypto';

/** Makes a check of `Authorization: Bearer …` that takes equally long whatever is wrong with the token. */
export function bearerCheck(token: string): (authorization: string | undefined) => boolean {
  const expected = digest(token);
  return (authorization) => {
    const given = /^Bearer +([^\s]+) *$/i.exec(authorization ?? '')?.[1];
    // Digests have the same length whatever was given, which timingSafeEqual needs.
    return timingSafeEqual(digest(given ?? ''), expected) && given !== undefined;
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
