import { errorCodeOf, type TraceSpan, type Tracing } from '@svc/tracing';

const OPERATION = /^\s*([a-z]{2,12})\b/i;
const KNOWN = /^(SELECT|INSERT|UPDATE|DELETE|WITH|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|CALL|CREATE|ALTER|DROP)$/;

type Query = string | { readonly text: string; readonly name?: string };
type Callback = (error: unknown, result: unknown) => void;

/** What is used of the driver's connection: knex gives it a callback, a prepared statement awaits its promise. */
export interface TracedConnection {
  query(query: Query, callback?: Callback): unknown;
}

/**
 * Makes each query of a connection a step of the trace in which it is asked. A span says which operation it was and, of a
 * prepared statement, our name for it; never its text, let alone its values. What belongs to no trace, such as polling,
 * makes none.
 */
export function traceConnection(connection: TracedConnection, tracing: Tracing): void {
  const ask = connection.query.bind(connection);
  connection.query = (query, callback) => {
    if (tracing.current() === undefined) return ask(query, callback);
    const span = beginSpan(tracing, query);
    const note: Callback = (error) => span.end(error ? errorCodeOf(error) : undefined);
    if (callback !== undefined) {
      return ask(query, (error, result) => {
        note(error, undefined);
        callback(error, result);
      });
    }
    const asked = Promise.resolve(ask(query));
    asked.then(
      () => note(undefined, undefined),
      (error: unknown) => note(error, undefined),
    );
    return asked;
  };
}

function beginSpan(tracing: Tracing, query: Query): TraceSpan {
  const { text, name } = typeof query === 'string' ? { text: query, name: undefined } : query;
  const operation = operationOf(text);
  return tracing.begin({
    name: name ?? operation,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.summary': name },
  });
}

/** The first word of a statement, where it is one that SQL has. */
function operationOf(text: string): string {
  const word = OPERATION.exec(text)?.[1]?.toUpperCase() ?? '';
  return KNOWN.test(word) ? word : 'OTHER';
}
