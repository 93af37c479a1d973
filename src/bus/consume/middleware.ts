import type { Handlers, Middleware } from './consumerOptions';
import type { Handler } from './handler';

/** Makes one handler of a handler or one for each type, with the middleware around it, the first outermost. */
export function composeHandler(handlers: Handlers, use: readonly Middleware[]): Handler {
  const inner: Handler =
    typeof handlers === 'function'
      ? handlers
      : (message, context) => {
          const handler = handlerFor(handlers, message.type);
          return handler?.(message, context);
        };
  return use.reduceRight<Handler>(
    (next, middleware) => (message, context) =>
      middleware(message, context, async () => {
        await next(message, context);
      }),
    inner,
  );
}

/** The handler for a type; undefined when none is named for it. */
export function handlerFor(handlers: Exclude<Handlers, Handler>, type: string | undefined): Handler | undefined {
  return type !== undefined && Object.hasOwn(handlers, type) ? handlers[type] : undefined;
}
