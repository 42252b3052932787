import {
  type ErrorCode,
  type ErrorKind,
  errorCodes,
  type ValidationErrorType,
  type ValidationIssue,
} from '@svc/contracts';
import type { LogFields } from './logging/log-fields.ts';

/** Ids by which an operator finds a refused request. */
export type LoggedIds = Pick<LogFields, 'user_id' | 'key_id'>;

export interface AppErrorOptions {
  /** Sent beside code and message, such as `resets_at`. Must not contain internal data. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Extra response headers, such as `Retry-After`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Logged, never sent. */
  readonly cause?: unknown;
  /** Ids in the log line of the request, where there is no caller to name. Logged, never sent. */
  readonly logged?: LoggedIds;
  /** Validation issues; the response becomes a 422 in the contract's shape. */
  readonly issues?: readonly ValidationIssue[];
}

/**
 * The only error class that operations throw. The contract's table maps the code to a kind and a status. Only
 * `publicMessage`, `details` and `headers` leave the process.
 */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  readonly status: number;
  readonly publicMessage: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly logged: LoggedIds;
  readonly issues: readonly ValidationIssue[] | undefined;

  /** `publicMessage` defaults to the contract's description of the code. */
  constructor(code: ErrorCode, publicMessage?: string, options: AppErrorOptions = {}) {
    const definition = errorCodes[code];
    super(publicMessage ?? definition.description, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'AppError';
    this.kind = definition.kind;
    this.code = code;
    this.status = options.issues === undefined ? definition.status : 422;
    this.publicMessage = publicMessage ?? definition.description;
    this.details = options.details ?? {};
    this.headers = options.headers ?? {};
    this.logged = options.logged ?? {};
    this.issues = options.issues;
  }
}

/** Creates the error for an invalid request: 422 in the contract's shape, or 400 in the wire format. */
export const invalidRequest = (issues: readonly ValidationIssue[]): AppError =>
  new AppError('invalid_request_error', 'The request is invalid.', { issues });

/**
 * Creates an error with one issue that only an operation can detect, such as `invalidField(['body', 'url'],
 * 'value_error', 'Value error, …')`.
 */
export const invalidField = (loc: readonly (string | number)[], type: ValidationErrorType, msg: string): AppError =>
  invalidRequest([{ loc: [...loc], type, msg }]);
