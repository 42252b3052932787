/** The database, the migrations or the functions are in a state from which nothing can be applied. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}
