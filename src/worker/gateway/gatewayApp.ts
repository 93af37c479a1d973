/**
 * The gateway over HTTP: `POST /runs` keeps and publishes a run, `GET /runs/:id` tells how far it is.
 *
 * It knows a store and a bus and nothing of sockets, so that the self test calls it directly. Answers are JSON; an error is
 * `{ error: { code, message, field? } }` and never quotes what was sent. Its contract is held by `test/worker/gateway.test.ts`.
 */
import { Hono } from 'hono/tiny';
import type { Context } from 'hono';
import { isRunId } from '../runs/runsStream';
import type { Run, RunStore } from '../runs/runStore';
import { submitRun } from '../runs/submitRun';
import type { SubmitParts } from '../runs/submitRun';
import { bearerCheck } from './bearer';
import type { RateLimiter } from './rateLimiter';
import { readJsonBody } from './requestBody';
import { readSubmission } from './submission';

/** What the gateway is made of. */
export interface GatewayParts extends SubmitParts {
  readonly store: Pick<RunStore, 'create' | 'published' | 'get'>;
  /** Undefined when everybody may submit. */
  readonly token: string | undefined;
  /** Undefined for no limit. */
  readonly limiter: RateLimiter | undefined;
  readonly maxBodyBytes: number;
}

type ErrorStatus = 400 | 401 | 404 | 405 | 413 | 415 | 429 | 500 | 503;

/** Makes the application. */
export function createGatewayApp(parts: GatewayParts): Hono {
  const app = new Hono();
  const mayCall = parts.token === undefined ? undefined : bearerCheck(parts.token);

  app.use(async (c, next) => {
    c.header('cache-control', 'no-store');
    if (mayCall && !mayCall(c.req.header('authorization'))) {
      c.header('www-authenticate', 'Bearer realm="runs"');
      return failed(c, 401, 'unauthorized', 'A bearer token is needed, and this was none or another one');
    }
    return next();
  });
  app.post('/runs', (c) => submit(c, parts));
  app.get('/runs/:id', (c) => show(c, parts));
  app.all('/runs', (c) => onlyMethod(c, 'POST'));
  app.all('/runs/:id', (c) => onlyMethod(c, 'GET, HEAD'));
  app.notFound((c) => failed(c, 404, 'not-found', 'Here are POST /runs and GET /runs/:id'));
  app.onError((error, c) => {
    parts.log.error(`A request of ${c.req.method} failed: ${error.message}`);
    return failed(c, 500, 'internal', 'Something failed; the gateway has logged what');
  });
  return app;
}

async function submit(c: Context, parts: GatewayParts): Promise<Response> {
  const body = await readJsonBody(c.req.raw, parts.maxBodyBytes);
  if ('unreadable' in body) {
    const { status, message } = body.unreadable;
    // What is left of the body is not worth reading.
    if (status !== 415) c.header('connection', 'close');
    return failed(c, status, status === 413 ? 'too-large' : status === 415 ? 'not-json' : 'malformed', message);
  }
  const read = readSubmission(body.json);
  if ('invalid' in read) return failed(c, 400, 'invalid', read.invalid.message, read.invalid.field);
  const waitMs = parts.limiter?.take(read.submission.sessionId) ?? 0;
  if (waitMs > 0) {
    c.header('retry-after', String(Math.ceil(waitMs / 1000)));
    return failed(c, 429, 'too-many', 'This session submits too often');
  }
  try {
    const { runId, streamId = null, duplicated } = await submitRun(parts, read.submission);
    c.header('location', `/runs/${runId}`);
    return c.json({ runId, streamId, duplicated }, 202);
  } catch (error) {
    return unavailable(c, parts, error);
  }
}

async function show(c: Context, parts: GatewayParts): Promise<Response> {
  const runId = c.req.param('id');
  try {
    const run = isRunId(runId) ? await parts.store.get(runId) : undefined;
    return run ? c.json(shown(run)) : failed(c, 404, 'unknown-run', 'There is no such run');
  } catch (error) {
    return unavailable(c, parts, error);
  }
}

/** The run is not kept, as far as is known: posting it again with the same key is safe. */
function unavailable(c: Context, { log }: GatewayParts, error: unknown): Response {
  log.error(`The store failed: ${error instanceof Error ? error.message : 'unknown'}`);
  c.header('retry-after', '1');
  return failed(c, 503, 'unavailable', 'The store cannot be reached; try again with the same idempotency key');
}

function shown({ runId, sessionId, status, streamId, reply, failure, createdAtMs }: Run): Record<string, unknown> {
  return {
    runId,
    sessionId,
    status,
    streamId: streamId ?? null,
    reply: reply ?? null,
    failure: failure ?? null,
    createdAt: new Date(createdAtMs).toISOString(),
  };
}

function onlyMethod(c: Context, allow: string): Response {
  c.header('allow', allow);
  return failed(c, 405, 'method', `Only ${allow} here`);
}

function failed(c: Context, status: ErrorStatus, code: string, message: string, field?: string): Response {
  return c.json({ error: { code, message, ...(field === undefined ? {} : { field }) } }, status);
}
