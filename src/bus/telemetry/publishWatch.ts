import type { PublishMiddleware } from '../publish/middleware';
import { channels } from './channels';
import type { PublishMessage } from './channels';
import { errorKind } from './errorKind';
import { PublishMeters } from './meters';
import type { Telemetry } from './telemetry';

/**
 * Around every publication: its span, whose context goes into the headers, how long it took, how it ended. One whose caller gave up
 * waiting is told when it is known what became of it.
 */
export function publishWatch(
  { tracing, metrics }: Telemetry,
  labelOf: (stream: string, type: string | undefined) => string,
): PublishMiddleware {
  const meters = metrics ? new PublishMeters(metrics) : undefined;
  return async ({ stream, type, key, headers }, next) => {
    const isTold = channels.publish.hasSubscribers;
    if (!tracing && !meters && !isTold) return next();
    const label = labelOf(stream, type);
    const span = tracing?.publish({ stream, type: label, key, headers });
    const beganMs = performance.now();
    const ended = (outcome: string, id: PublishMessage['id']): void => {
      const durationMs = performance.now() - beganMs;
      const ofStream = meters?.of(stream);
      ofStream?.sent(label, outcome).add(1);
      ofStream?.duration(outcome).record(durationMs / 1000);
      if (!isTold) return;
      const message: PublishMessage = { stream, id, type: label, durationMs, outcome };
      channels.publish.publish(message);
    };
    try {
      const published = await (span ? span.run(next) : next());
      const outcome = published.duplicate ? 'duplicate' : 'ok';
      span?.end({ id: published.id, ...(published.duplicate ? { outcome } : {}) });
      ended(outcome, published.id);
      return published;
    } catch (error) {
      const kind = errorKind(error);
      span?.end({ error: kind });
      ended(kind, undefined);
      throw error;
    }
  };
}
