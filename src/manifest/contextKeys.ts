/** Every context key that this extension sets and package.json's `when` clauses may use. */
export const contextKeys = [] as const;
