/** A query as the driver takes it. A prepared statement carries its name. */
export type DriverQuery = string | { readonly text: string; readonly name?: string };

export type DriverCallback = (error: unknown, result?: unknown) => void;

/** The part of the driver's connection that is used here. */
export interface DriverConnection {
  /** Replaced by `interceptQueries`. */
  query: (query: DriverQuery, callback?: DriverCallback) => unknown;
  readonly end: () => Promise<void>;
}

/** Sends a query and calls back once it has succeeded or failed. */
export type SendQuery = (query: DriverQuery, callback: DriverCallback) => void;

/** Runs every query of a connection through `wrap`, whether its caller passes a callback or awaits a promise. */
export const interceptQueries = (connection: DriverConnection, wrap: (send: SendQuery) => SendQuery): void => {
  const send = wrap(connection.query.bind(connection));
  connection.query = (query, callback) => {
    if (callback !== undefined) return send(query, callback);
    return new Promise((resolve, reject) => {
      send(query, (error, result) => {
        if (error) reject(error);
        else resolve(result);
      });
    });
  };
};
