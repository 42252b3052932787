/** SQLSTATE codes that have a meaning for callers; PostgreSQL documentation, appendix A. */
const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const CONNECTION_EXCEPTION_CLASS = '08';
const SQLSTATE = /^[0-9A-Z]{5}$/;
/** Shutdown, crash, not yet started, database dropped, idle time-outs, too many connections. */
const SERVER_GONE = new Set(['57P01', '57P02', '57P03', '57P04', '57P05', '25P03', '53300']);
const SOCKET_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
/** The driver and the pool report these without a code; knex puts the statement and ` - ` before them. */
const CONNECTION_MESSAGES =
  /(?:^| - )(?:Connection terminated|timeout expired|Query read timeout|Connection ended|Client has encountered a connection error|Knex: Timeout acquiring a connection|timeout exceeded when trying to connect|Unable to acquire a connection)/i;

/** A unique constraint or index (this one, when named) already holds such a row. */
export const isUniqueViolation = (error: unknown, constraint?: string): boolean => {
  return (
    codeOf(error) === UNIQUE_VIOLATION && (constraint === undefined || fieldOf(error, 'constraint') === constraint)
  );
};

/** A row that this one refers to is missing, or one that refers to it remains. */
export const isForeignKeyViolation = (error: unknown, constraint?: string): boolean => {
  return (
    codeOf(error) === FOREIGN_KEY_VIOLATION && (constraint === undefined || fieldOf(error, 'constraint') === constraint)
  );
};

/** Concurrent transactions cannot be ordered: run this one again from its start. */
export const isSerializationFailure = (error: unknown): boolean => {
  return codeOf(error) === SERIALIZATION_FAILURE;
};

/** Transactions wait for each other in a circle, and this one was chosen to end: run it again from its start. */
export const isDeadlock = (error: unknown): boolean => {
  return codeOf(error) === DEADLOCK_DETECTED;
};

/** The values themselves are refused (classes 22 and 23): no repetition mends that. */
export const isInvalidData = (error: unknown): boolean => {
  const code = codeOf(error);
  return code !== undefined && SQLSTATE.test(code) && (code.startsWith('22') || code.startsWith('23'));
};

/** A lock was not had within `lock_timeout`, or at once with NOWAIT. */
export const isLockTimeout = (error: unknown): boolean => {
  return codeOf(error) === LOCK_NOT_AVAILABLE;
};

/** The statement ran longer than `statement_timeout`, or was cancelled. */
export const isStatementTimeout = (error: unknown): boolean => {
  return codeOf(error) === QUERY_CANCELED;
};

/** The server could not be reached or went away; whether a commit took effect is then unknown. */
export const isConnectionFailure = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code !== undefined) {
    return code.startsWith(CONNECTION_EXCEPTION_CLASS) || SERVER_GONE.has(code) || SOCKET_FAILURES.has(code);
  }
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure);
  return error instanceof Error && CONNECTION_MESSAGES.test(error.message);
};

const codeOf = (error: unknown): string | undefined => {
  return fieldOf(error, 'code');
};

const fieldOf = (error: unknown, field: 'code' | 'constraint'): string | undefined => {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : undefined;
};
