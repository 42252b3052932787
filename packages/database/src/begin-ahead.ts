type Query = string | { readonly text: string };
type Callback = (error: unknown, result?: unknown) => void;

/** What is used of the driver's connection: knex gives it a callback. */
export interface PipelinedConnection {
  query(query: Query, callback?: Callback): unknown;
}

const BEGIN = 'BEGIN;';

/**
 * Lets the `BEGIN` of a transaction travel with its first statement, as nobody waits for its answer. That is for connections in
 * pipeline mode, where statements are sent as they are asked and run in that order. `BEGIN` fails only where the connection
 * does, and then everything behind it fails as well.
 */
export function beginAhead(connection: PipelinedConnection): void {
  const ask = connection.query.bind(connection);
  connection.query = (query, callback) => {
    if (callback === undefined || typeof query === 'string' || query.text !== BEGIN) return ask(query, callback);
    ask(query, ignore);
    process.nextTick(callback, undefined, undefined);
    return undefined;
  };
}

function ignore(): void {}
