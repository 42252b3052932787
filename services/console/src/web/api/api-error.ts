import type { ErrorCode, ValidationIssue } from '@svc/contracts';

/** Codes of failures without an error from a service. */
export type LocalErrorCode = 'network_error' | 'timeout' | 'unreadable_answer' | 'validation_error';

/** The `code` of a failed call. A newer service may send others. */
export type ApiErrorCode = ErrorCode | LocalErrorCode | (string & {});

export interface ApiErrorFields {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  readonly code: ApiErrorCode;
  /** English text of the service. */
  readonly message: string;
  /** Members of the response beside code and message. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Faults of the request, on 422. */
  readonly issues?: readonly ValidationIssue[];
  /** From `X-Request-Id`, for support. */
  readonly requestId?: string | undefined;
  /** From `Retry-After`. */
  readonly retryAfterSeconds?: number | undefined;
}

const TRANSIENT_STATUSES = new Set([0, 502, 503, 504]);

/** Thrown if a call fails. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ApiErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly issues: readonly ValidationIssue[];
  readonly requestId: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(fields: ApiErrorFields, cause?: unknown) {
    super(fields.message, cause === undefined ? undefined : { cause });
    this.name = 'ApiError';
    this.status = fields.status;
    this.code = fields.code;
    this.details = fields.details ?? {};
    this.issues = fields.issues ?? [];
    this.requestId = fields.requestId;
    this.retryAfterSeconds = fields.retryAfterSeconds;
  }

  /** True if the same call may succeed a little later. */
  get isTransient(): boolean {
    return TRANSIENT_STATUSES.has(this.status);
  }

  /** True if the person must authenticate again first. */
  get isStepUpRequired(): boolean {
    return this.status === 403 && this.code === 'reauthentication_required';
  }

  /** True if a newer token may be accepted, because the address was confirmed meanwhile. */
  get isTokenOutdated(): boolean {
    return this.code === 'email_not_verified';
  }

  /** True if the session of the call is not valid, or no longer. */
  get isSessionRefused(): boolean {
    return this.status === 401 && this.code !== 'invalid_credentials';
  }
}

const REQUEST_ID_CHARACTERS_MAX = 64;

/** Parses the error of a response, in any of the contract's shapes. */
export const readApiError = async (response: Response): Promise<ApiError> => {
  const body: unknown = await response.json().catch(() => undefined);
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
  const common = {
    status: response.status,
    requestId: response.headers.get('x-request-id')?.slice(0, REQUEST_ID_CHARACTERS_MAX),
    retryAfterSeconds: Number.isFinite(retryAfter) && retryAfter > 0 ? Math.ceil(retryAfter) : undefined,
  };
  const detail = isRecord(body) ? body['detail'] : undefined;
  if (Array.isArray(detail)) {
    const issues = detail.filter(isIssue);
    return new ApiError({ ...common, code: 'validation_error', message: 'The request is invalid.', issues });
  }
  const details = isRecord(detail) ? detail : {};
  const { code, message } = details;
  return new ApiError({
    ...common,
    details,
    code: typeof code === 'string' ? code : codeOfStatus(response.status),
    message: typeof message === 'string' ? message : response.statusText,
  });
};

/** Chooses a code for a response that is not ours, such as a load balancer's page. */
const codeOfStatus = (status: number): ApiErrorCode => {
  switch (status) {
    case 401:
      return 'invalid_token';
    case 404:
      return 'not_found';
    case 413:
      return 'payload_too_large';
    case 501:
      return 'not_implemented';
    case 502:
    case 503:
    case 504:
      return 'service_unavailable';
    default:
      return 'internal_error';
  }
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const isIssue = (value: unknown): value is ValidationIssue =>
  isRecord(value) &&
  Array.isArray(value['loc']) &&
  typeof value['type'] === 'string' &&
  typeof value['msg'] === 'string';
