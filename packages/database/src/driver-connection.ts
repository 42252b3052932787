import pg from 'pg';

/** What the driver is asked: text, or a statement with its values and, where it is prepared, its name. */
export type DriverQuery = string | { readonly text: string; readonly name?: string };

export type DriverCallback = (error: unknown, result?: unknown) => void;

/** What is used of a connection of the driver: knex gives it a callback, a prepared statement awaits its promise. */
export interface DriverConnection {
  query(query: DriverQuery, callback?: DriverCallback): unknown;
  end(): Promise<void>;
}

/** Whether a connection of the pool was ended, by either side. */
export const isEnding = (connection: pg.Client): boolean =>
  Reflect.get(connection, '_ending') === true || Reflect.get(connection, '__knex__disposed') !== undefined;

/** Whether a connection of the pool is open, and nothing is on its way that it was asked for. */
export const isAtRest = (connection: unknown): boolean =>
  connection instanceof pg.Client && Reflect.get(connection, 'readyForQuery') === true && !isEnding(connection);
