import type { StandardSchemaV1 } from '@standard-schema/spec';
import { propertyPath } from './jsonBody';
import { ConfigError } from './options';

/** Schemas of the bodies of a topic: one for all, or one for each message type. Any Standard Schema: zod, valibot, arktype, your own. */
export type Schemas = StandardSchemaV1 | SchemasByType;

/** A schema for each message type. */
export type SchemasByType = Readonly<Record<string, StandardSchemaV1>>;

/** Whether this is one schema for all messages; some libraries make them functions. */
export function isSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
  const standard: unknown = Reflect.get(value, '~standard');
  return typeof standard === 'object' && standard !== null && typeof Reflect.get(standard, 'validate') === 'function';
}

/** Throws a `ConfigError` unless the value is a schema, or an object with at least one and nothing else. */
export function checkSchemas(option: string, value: unknown): void {
  if (isSchema(value)) return;
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  const wrong = isRecord ? Object.entries(value).find(([, schema]) => !isSchema(schema))?.[0] : undefined;
  if (isRecord && wrong === undefined && Object.keys(value).length > 0) return;
  const what = wrong === undefined ? option : `${option}.${wrong}`;
  throw new ConfigError('invalid-option', what, `${what}: expected a Standard Schema, or an object of them by type`);
}

/** The schema for a message type; undefined when it has none. */
export function schemaFor(schemas: Schemas, type: string | undefined): StandardSchemaV1 | undefined {
  if (isSchema(schemas)) return schemas;
  return type !== undefined && Object.hasOwn(schemas, type) ? schemas[type] : undefined;
}

/** What a schema made of a body, or what is wrong with it, in words that hold no value of it. */
export type Checked = { readonly body: unknown } | { readonly problem: string };

/** Checks a body; a promise when the schema needs one. What the schema throws passes through: it is no verdict on the body. */
export function checkBody(schema: StandardSchemaV1, body: unknown): Checked | Promise<Checked> {
  const result = schema['~standard'].validate(body);
  return 'then' in result ? result.then(verdict) : verdict(result);
}

function verdict(result: StandardSchemaV1.Result<unknown>): Checked {
  return result.issues ? { problem: problemText(result.issues) } : { body: result.value };
}

const maxPaths = 5;

/** Where the issues are. Their messages are left out: several libraries quote the value in them. */
function problemText(issues: readonly StandardSchemaV1.Issue[]): string {
  const paths = [...new Set(issues.map(pathOf))];
  const more = paths.length > maxPaths ? ` and ${paths.length - maxPaths} more` : '';
  return `${paths.slice(0, maxPaths).join(', ')}${more} ${paths.length === 1 ? 'does' : 'do'} not fit the schema`;
}

function pathOf({ path = [] }: StandardSchemaV1.Issue): string {
  return path
    .map((segment) => (typeof segment === 'object' ? segment.key : segment))
    .reduce<string>(propertyPath, 'body')
    .slice(0, 200);
}
