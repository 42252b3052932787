/** What the driver is asked: text, or a statement with its values and, where it is prepared, its name. */
export type DriverQuery = string | { readonly text: string; readonly name?: string };

export type DriverCallback = (error: unknown, result?: unknown) => void;

/** What is used of a connection of the driver: knex gives it a callback, a prepared statement awaits its promise. */
export interface DriverConnection {
  query(query: DriverQuery, callback?: DriverCallback): unknown;
  end(): Promise<void>;
}
