import pg from 'pg';
import { isReadOnly } from './postgres-errors.ts';

/** A query as the driver takes it. A prepared statement carries its name. */
export type DriverQuery = string | { readonly text: string; readonly name?: string };

type DriverCallback = (error: unknown, result?: unknown) => void;

/** The part of the driver's connection that is used here. */
export interface DriverConnection {
  /** Replaced by `interceptQueries`. */
  query: (query: DriverQuery, callback?: DriverCallback) => unknown;
  readonly end: () => Promise<void>;
}

/** Sends a query and calls back once it has succeeded or failed. */
type SendQuery = (query: DriverQuery, callback: DriverCallback) => void;

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

export interface QueryLimit {
  readonly timeoutMs: number;
  /** Called before a query fails that leaves the connection in an unknown state: no other query may use it. */
  readonly onDoubt: () => void;
}

/**
 * Ends a connection on which the server leaves a query unanswered for too long, since its answer may still arrive. The query
 * fails with `Query read timeout`. The server's own limits don't help if the server is gone. The driver's `query_timeout`
 * would keep the connection, and its second callback keeps each query in memory until a full collection (docs/adr/0006).
 */
export const limitQueries = (connection: DriverConnection, { timeoutMs, onDoubt }: QueryLimit): void =>
  interceptQueries(connection, (send) => (query, callback) => {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      onDoubt();
      callback(new Error('Query read timeout'));
      connection.end().catch(() => undefined);
    }, timeoutMs);
    send(query, (error, result) => {
      if (isOver) return;
      clearTimeout(timer);
      // An error of the server leaves its connection intact, but one that takes no writes is the wrong server. A value that
      // the driver cannot send breaks a named statement.
      if (error && (!(error instanceof pg.DatabaseError) || isReadOnly(error))) onDoubt();
      callback(error, result);
    });
  });
