/** Marks a branch that the types say cannot be reached; throws when it is reached all the same. */
export function assertNever(value: never): never {
  throw new Error(`Unexpected value of a closed set: ${typeof value}`);
}
