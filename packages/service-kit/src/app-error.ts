import {
  type ErrorCode,
  type ErrorKind,
  errorCodes,
  type ValidationErrorType,
  type ValidationIssue,
} from '@svc/contracts';

/** What an AppError may carry beside its code. */
export interface AppErrorOptions {
  /** Shown beside code and message, such as `resets_at`; never anything internal. */
  details?: Readonly<Record<string, unknown>>;
  /** Extra response headers, such as `Retry-After`. */
  headers?: Readonly<Record<string, string>>;
  /** What caused it; logged, never shown. */
  cause?: unknown;
  /** Faults of the request; makes the answer a 422 in the shape of the contract. */
  issues?: readonly ValidationIssue[];
}

/**
 * The one error that operations throw. The code decides kind and status by the contract's table; only `publicMessage`,
 * `details` and `headers` ever leave the process.
 */
export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  readonly status: number;
  readonly publicMessage: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly issues: readonly ValidationIssue[] | undefined;

  /** `publicMessage` defaults to the description that the contract gives the code. */
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
    this.issues = options.issues;
  }
}

/** A request with faults: answered as 422 in the shape of the contract (or as the wire format's 400). */
export const invalidRequest = (issues: readonly ValidationIssue[]): AppError =>
  new AppError('invalid_request_error', 'The request is invalid.', { issues });

/** One fault that only an operation can see, such as `invalidField(['body', 'url'], 'value_error', 'Value error, …')`. */
export const invalidField = (loc: readonly (string | number)[], type: ValidationErrorType, msg: string): AppError =>
  invalidRequest([{ loc: [...loc], type, msg }]);
