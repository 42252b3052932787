import { errorCodeOf, type TraceSpan, type Tracing } from '@svc/tracing';
import type { DriverCallback, DriverConnection, DriverQuery } from './driver-connection.ts';

const OPERATION = /^\s*([a-z]{2,12})\b/i;
const KNOWN = /^(SELECT|INSERT|UPDATE|DELETE|WITH|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|CALL|CREATE|ALTER|DROP)$/;

/**
 * Makes each query of a connection a step of the trace in which it is asked. A span says which operation it was and, of a
 * prepared statement, our name for it; never its text, let alone its values. What belongs to no trace, such as polling,
 * makes none.
 */
export const traceConnection = (connection: DriverConnection, tracing: Tracing): void => {
  const ask = connection.query.bind(connection);
  connection.query = (query, callback) => {
    if (tracing.current() === undefined) return ask(query, callback);
    const span = beginSpan(tracing, query);
    const note: DriverCallback = (error) => span.end(error ? errorCodeOf(error) : undefined);
    if (callback !== undefined) {
      return ask(query, (error, result) => {
        note(error);
        callback(error, result);
      });
    }
    const asked = Promise.resolve(ask(query));
    asked.then(
      () => note(undefined),
      (error: unknown) => note(error),
    );
    return asked;
  };
};

const beginSpan = (tracing: Tracing, query: DriverQuery): TraceSpan => {
  const { text, name } = typeof query === 'string' ? { text: query, name: undefined } : query;
  const operation = operationOf(text);
  return tracing.begin({
    name: name ?? operation,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.summary': name },
  });
};

/** The first word of a statement, where it is one that SQL has. */
const operationOf = (text: string): string => {
  const word = OPERATION.exec(text)?.[1]?.toUpperCase() ?? '';
  return KNOWN.test(word) ? word : 'OTHER';
};
