import * as v from 'valibot';

/** What a client posts to `/runs`. */
export interface Submission {
  readonly sessionId: string;
  readonly idempotencyKey: string;
  readonly input: string;
}

/** What is wrong with a body: the field by its name, undefined for the body as a whole. */
export interface Invalid {
  readonly field: string | undefined;
  readonly message: string;
}

/** The longest input, in UTF-16 units. */
export const maxInputLength = 32_768;

const maxNameLength = 200;

/** Text that every store can keep as it is. */
const storable = v.check<string, string>(
  (text) => !text.includes('\0') && !/\p{Surrogate}/u.test(text),
  'expected text without NUL characters and lone surrogates',
);

const name = v.pipe(
  v.string('expected a text'),
  v.minLength(1, 'expected a text that is not empty'),
  v.maxLength(maxNameLength, `expected at most ${maxNameLength} characters`),
  storable,
);

const schema = v.object({
  sessionId: name,
  idempotencyKey: name,
  input: v.pipe(
    v.string('expected a text'),
    v.minLength(1, 'expected a text that is not empty'),
    v.maxLength(maxInputLength, `expected at most ${maxInputLength} characters`),
    storable,
  ),
});

/** Reads a parsed body. What more it holds is left alone; what is wrong is told without quoting a value. */
export function readSubmission(body: unknown): { readonly submission: Submission } | { readonly invalid: Invalid } {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { invalid: { field: undefined, message: 'The body is no JSON object' } };
  const result = v.safeParse(schema, body, { abortEarly: true });
  if (result.success) return { submission: result.output };
  const [issue] = result.issues;
  const field = String(issue.path?.[0].key);
  const isMissing = issue.kind === 'schema' && issue.received === 'undefined';
  return { invalid: { field, message: `${field}: ${isMissing ? 'it is missing' : issue.message}` } };
}
