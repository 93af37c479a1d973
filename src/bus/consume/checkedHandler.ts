import { DecodeError } from '../codecs';
import type { EntryFields } from '../entries';
import type { EntryId, StreamKey } from '../ids';
import { checkBody, schemaFor } from '../schemas';
import type { Checked, Schemas } from '../schemas';
import type { Handler, Message } from './handler';

/** A body that does not fit its schema. Not exported by the bus, so that no handler can be taken for a schema. */
export class InvalidBodyError extends DecodeError {}

/**
 * Puts the topic's schemas before a handler and its middleware: they get what the schema made of the body, and never a body that does not
 * fit. It is done in the handler's slot and time, because a schema may need a promise; what the schema throws counts as the handler's.
 */
export function checkedHandler(schemas: Schemas | undefined, handler: Handler, plainMessages: boolean): Handler {
  if (schemas === undefined) return handler;
  return (message, context) => {
    const schema = schemaFor(schemas, message.type);
    // A type without a schema does not come this far.
    if (schema === undefined) return handler(message, context);
    const handle = (checked: Checked): unknown => {
      if ('problem' in checked) throw new InvalidBodyError(checked.problem);
      return handler(withBody(message, checked.body, plainMessages), context);
    };
    const checked = checkBody(schema, message.body);
    return 'then' in checked ? checked.then(handle) : handle(checked);
  };
}

/** Whether messages of this type can be handled at all. */
export function hasSchema(schemas: Schemas | undefined, type: string | undefined): boolean {
  return schemas === undefined || schemaFor(schemas, type) !== undefined;
}

function withBody(message: Message, body: unknown, plain: boolean): Message {
  if (body === message.body) return message;
  return plain ? { ...message, body } : new CheckedMessage(message, body);
}

/** A message with another body; the rest is made only when it is asked for, as before. */
class CheckedMessage implements Message {
  constructor(
    private readonly given: Message,
    readonly body: unknown,
  ) {}

  get id(): EntryId {
    return this.given.id;
  }

  get stream(): StreamKey {
    return this.given.stream;
  }

  get type(): string | undefined {
    return this.given.type;
  }

  get fields(): Readonly<Record<string, string>> {
    return this.given.fields;
  }

  get rawFields(): EntryFields {
    return this.given.rawFields;
  }
}
