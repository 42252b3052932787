import { errorCodeOf, type TraceSpan, type Tracing } from '@svc/tracing';
import { type DriverConnection, type DriverQuery, interceptQueries } from './intercept-queries.ts';

const OPERATION = /^\s*([a-z]{2,12})\b/i;
const KNOWN = /^(SELECT|INSERT|UPDATE|DELETE|WITH|BEGIN|COMMIT|ROLLBACK|SAVEPOINT|RELEASE|SET|CALL|CREATE|ALTER|DROP)$/;

/**
 * Records each query of a connection as a span of the current trace: its operation and the name of a prepared statement,
 * never its text or values. Queries outside a trace, such as polls, make no span.
 */
export const traceConnection = (connection: DriverConnection, tracing: Tracing): void =>
  interceptQueries(connection, (send) => (query, callback) => {
    if (tracing.current() === undefined) return send(query, callback);
    const span = beginSpan(tracing, query);
    send(query, (error, result) => {
      span.end(error ? errorCodeOf(error) : undefined);
      callback(error, result);
    });
  });

const beginSpan = (tracing: Tracing, query: DriverQuery): TraceSpan => {
  const { text, name } = typeof query === 'string' ? { text: query, name: undefined } : query;
  const operation = operationOf(text);
  return tracing.begin({
    name: name ?? operation,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.operation.name': operation, 'db.query.summary': name },
  });
};

/** Returns the first word of a statement if SQL knows it. */
const operationOf = (text: string): string => {
  const word = OPERATION.exec(text)?.[1]?.toUpperCase() ?? '';
  return KNOWN.test(word) ? word : 'OTHER';
};
