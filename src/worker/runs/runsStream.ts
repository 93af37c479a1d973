import { topic } from '../../bus';

/** What an entry of the runs stream holds: which run there is to execute. The input stays in the store. */
export type RunRequest = Readonly<Record<'runId' | 'sessionId', string>>;

/** The stream of runs: `<env>:koda:runs`. It is trimmed by nobody but the command `trim`. */
export const runsTopic = topic<RunRequest>('koda:runs', { retention: 'none' });

/** The group that executes runs, unless another is named. */
export const defaultGroup = 'workers';

/** How long a run's publication is remembered. After it a second one would be a second entry, which the worker recognises. */
export const dedupeWindowMs = 10 * 60_000;

const runIdPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Tells whether a text has the form of a run id. */
export function isRunId(text: string | undefined): text is string {
  return text !== undefined && runIdPattern.test(text);
}
