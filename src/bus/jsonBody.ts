/** Why a value does not survive JSON, with where it is: `body.items[3] is a Date`; undefined when it does. */
export function jsonObstacle(value: unknown, path = 'body'): string | undefined {
  try {
    return obstacle(value, path, new Set());
  } catch (error) {
    if (error instanceof RangeError) return 'body is nested too deeply';
    throw error;
  }
}

function obstacle(value: unknown, path: string, above: Set<object>): string | undefined {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? undefined : `${path} is ${numberName(value)}`;
    case 'object':
      return value === null ? undefined : objectObstacle(value, path, above);
    default:
      return `${path} is ${typeof value === 'undefined' ? 'undefined' : `a ${typeof value}`}`;
  }
}

function objectObstacle(value: object, path: string, above: Set<object>): string | undefined {
  if (above.has(value)) return `${path} contains itself`;
  const isList = Array.isArray(value);
  if (!isList && !isPlain(value)) return `${path} is a ${Object.prototype.toString.call(value).slice(8, -1)}`;
  if ('toJSON' in value) return `${path} has a toJSON of its own`;
  if (Object.getOwnPropertySymbols(value).length > 0) return `${path} has a property named by a symbol`;
  above.add(value);
  const found = isList ? listObstacle(value, path, above) : recordObstacle(value, path, above);
  above.delete(value);
  return found;
}

function listObstacle(list: readonly unknown[], path: string, above: Set<object>): string | undefined {
  if (Object.keys(list).length !== list.length) return `${path} is a list with holes or names`;
  for (const [index, item] of list.entries()) {
    const found = obstacle(item, `${path}[${index}]`, above);
    if (found !== undefined) return found;
  }
  return undefined;
}

function recordObstacle(record: object, path: string, above: Set<object>): string | undefined {
  for (const [name, item] of Object.entries(record)) {
    // A property that is undefined counts as left out, as optional properties are in most code.
    if (item === undefined) continue;
    const found = obstacle(item, propertyPath(path, name), above);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The path of a property, as code would write it. A name that could be data rather than a name is left out. */
export function propertyPath(path: string, name: PropertyKey): string {
  if (typeof name === 'number' || (typeof name === 'string' && /^\d{1,9}$/.test(name))) return `${path}[${name}]`;
  return typeof name === 'string' && /^[A-Za-z_$][\w$]{0,39}$/.test(name) ? `${path}.${name}` : `${path}[…]`;
}

/** Whether an object is a record and no instance of a class; one of another realm is too. */
export function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null;
}

function numberName(value: number): string {
  return Object.is(value, -0) ? 'negative zero' : String(value);
}
