/** SQLSTATE codes (PostgreSQL documentation, appendix A). */
const UNIQUE_VIOLATION = '23505';
const FOREIGN_KEY_VIOLATION = '23503';
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';
const LOCK_NOT_AVAILABLE = '55P03';
const QUERY_CANCELED = '57014';
const INVALID_FUNCTION_DEFINITION = '42P13';
const CONNECTION_EXCEPTION_CLASS = '08';
const SQLSTATE = /^[0-9A-Z]{5}$/;
const READ_ONLY = '25006';
/** Shutdown, crash, start-up, dropped database, idle timeouts, too many connections, a standby. */
const SERVER_GONE = new Set([READ_ONLY, '57P01', '57P02', '57P03', '57P04', '57P05', '25P03', '53300']);
const SOCKET_FAILURES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);
/** The driver and the pool report these without a code. knex puts the statement and ` - ` before them. */
const CONNECTION_MESSAGES =
  /(?:^| - )(?:Connection terminated|timeout expired|Query read timeout|Connection ended|Client has encountered a connection error|Client was closed|Knex: Timeout acquiring a connection|timeout exceeded when trying to connect|Unable to acquire a connection)/i;

/** Returns true if a unique constraint or index (the named one, if given) already holds such a row. */
export const isUniqueViolation = (error: unknown, constraint?: string): boolean =>
  codeOf(error) === UNIQUE_VIOLATION && (constraint === undefined || fieldOf(error, 'constraint') === constraint);

/** Returns true if a row that this one refers to is missing, or a row that refers to it remains. */
export const isForeignKeyViolation = (error: unknown, constraint?: string): boolean =>
  codeOf(error) === FOREIGN_KEY_VIOLATION && (constraint === undefined || fieldOf(error, 'constraint') === constraint);

/** Returns true if concurrent transactions cannot be ordered. Running this one again from its start may succeed. */
export const isSerializationFailure = (error: unknown): boolean => codeOf(error) === SERIALIZATION_FAILURE;

/** Returns true if this transaction was ended to resolve a deadlock. Running it again from its start may succeed. */
export const isDeadlock = (error: unknown): boolean => codeOf(error) === DEADLOCK_DETECTED;

/** Returns true if the values themselves are refused (classes 22 and 23), so a retry fails the same way. */
export const isInvalidData = (error: unknown): boolean => {
  const code = codeOf(error);
  return code !== undefined && SQLSTATE.test(code) && (code.startsWith('22') || code.startsWith('23'));
};

/** Returns true if a lock was not available within `lock_timeout`, or at once with NOWAIT. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === LOCK_NOT_AVAILABLE;

/** Returns true if the statement ran longer than `statement_timeout`, or was cancelled. */
export const isStatementTimeout = (error: unknown): boolean => codeOf(error) === QUERY_CANCELED;

/** Returns true if the server takes no writes: it is a standby, or has been made read-only. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === READ_ONLY;

/** Returns true if a function cannot be replaced because its new signature differs in its results or names. */
export const isInvalidFunctionDefinition = (error: unknown): boolean => codeOf(error) === INVALID_FUNCTION_DEFINITION;

/** Returns true if the server could not be reached or went away. A commit may then have taken effect or not. */
export const isConnectionFailure = (error: unknown): boolean => {
  const code = codeOf(error);
  if (code !== undefined) {
    return code.startsWith(CONNECTION_EXCEPTION_CLASS) || SERVER_GONE.has(code) || SOCKET_FAILURES.has(code);
  }
  if (error instanceof AggregateError) return error.errors.some(isConnectionFailure);
  return error instanceof Error && CONNECTION_MESSAGES.test(error.message);
};

const codeOf = (error: unknown): string | undefined => fieldOf(error, 'code');

const fieldOf = (error: unknown, field: 'code' | 'constraint'): string | undefined => {
  if (typeof error !== 'object' || error === null) return undefined;
  const value: unknown = Reflect.get(error, field);
  return typeof value === 'string' ? value : undefined;
};

/** The database, the migrations or the functions are in a state from which nothing can be applied. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/** Returns PostgreSQL's message without the statement that knex puts before it: that may hold a password verifier. */
export const reasonOf = (error: unknown): string => {
  const message = error instanceof Error ? error.message : String(error);
  return message.slice(message.lastIndexOf(' - ') + 1).replace(/^- /, '');
};
