/** Column and SQL type of each field, such as `client_id text`. A missing field fails to compile. */
export type ColumnTable<T> = { readonly [Field in keyof T]-?: string };

/** Mapping between the fields of a record and the columns of its rows. */
export interface RecordColumns<T> {
  /** Column names, for an insert. */
  readonly names: string;
  /** Select list that returns rows of this table or alias as records. */
  readonly select: (table: string) => string;
  /** Table expression for many records, which takes one array parameter for each column. */
  readonly unnest: (alias: string, firstParameter?: number) => string;
  /** Parameters of `unnest`. */
  readonly arrays: (records: readonly T[]) => unknown[][];
  /** Row for an insert or update by knex. */
  readonly toRow: (record: T) => Record<string, unknown>;
}

/** Derives statement parts from one table of fields, so that a field stands in a single place. */
export const recordColumns = <T extends object>(table: ColumnTable<T>): RecordColumns<T> => {
  // `ColumnTable` has the fields of `T` and no others.
  const fields = Object.keys(table) as (keyof T & string)[];
  const columns = fields.map((field) => {
    const [name = '', ...type] = table[field].split(' ');
    return { field, name, type: type.join(' ') };
  });
  const names = columns.map(({ name }) => name).join(', ');
  return {
    names,
    select: (alias) => columns.map(({ field, name }) => `${alias}.${name} AS "${field}"`).join(', '),
    unnest: (alias, firstParameter = 1) => {
      const arrays = columns.map(({ type }, index) => `$${firstParameter + index}::${type}[]`);
      return `unnest(${arrays.join(', ')}) AS ${alias} (${names})`;
    },
    arrays: (records) => fields.map((field) => records.map((record) => record[field])),
    toRow: (record) => Object.fromEntries(columns.map(({ field, name }) => [name, record[field]])),
  };
};
