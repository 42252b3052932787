/** Converts `redirect_uris` to `redirectUris`. */
type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** Converts `redirectUris` to `redirect_uris`. */
type SnakeCase<S extends string> = S extends `${infer Head}${infer Tail}`
  ? Head extends Lowercase<Head>
    ? `${Head}${SnakeCase<Tail>}`
    : `_${Lowercase<Head>}${SnakeCase<Tail>}`
  : S;

/** Fields of a record, derived from the columns of its row or the members of its JSON. */
export type CamelKeys<T> = { readonly [K in keyof T as CamelCase<K & string>]: T[K] };

/** Columns of a row, derived from the fields of its record. */
export type SnakeKeys<T> = { readonly [K in keyof T as SnakeCase<K & string>]: T[K] };

/** Maps a row, or a JSON object, to its record. Maps every key by its name, so none can be forgotten. */
export const camelKeys = <T extends object>(value: T): CamelKeys<T> =>
  // The types follow the same rule as the expression.
  mapKeys(value, (key) => key.replace(/_[a-z]/g, (found) => found.slice(1).toUpperCase())) as CamelKeys<T>;

/** Maps a record to its row. Every field becomes a column, so the caller must pass exactly those of the row. */
export const snakeKeys = <T extends object>(value: T): SnakeKeys<T> =>
  // As above.
  mapKeys(value, (key) => key.replace(/[A-Z]/g, (found) => `_${found.toLowerCase()}`)) as SnakeKeys<T>;

const mapKeys = (value: object, rename: (key: string) => string): object =>
  Object.fromEntries(Object.entries(value).map(([key, member]) => [rename(key), member]));
