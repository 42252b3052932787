import type { Knex } from 'knex';

/** Binds values as one SQL array; a null among them is a NULL. */
export const sqlArray = (values: readonly (string | number | boolean | Date | Buffer | null)[]): Knex.Value => {
  // The driver writes arrays of all of these; knex's type allows neither null nor read-only arrays.
  return values as unknown as Knex.Value;
};

/** Binds one field of each record as one SQL array. */
export const sqlColumn = <T>(
  records: readonly T[],
  field: (record: T) => string | number | boolean | Date | Buffer | null,
): Knex.Value => {
  return sqlArray(records.map(field));
};
