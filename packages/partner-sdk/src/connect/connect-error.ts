import * as oauth from 'openid-client';

/**
 * Reason why a connect flow or a refresh gave no tokens.
 *
 * - `denied`: the user declined.
 * - `wrong_state`: the callback does not belong to a flow of this browser session. No user was connected.
 * - `expired`: the code is older than five minutes, was used before, or belongs to another verifier.
 * - `misconfigured`: the client id, secret, redirect URI or scope differs from the registration.
 * - `unavailable`: the service did not answer in time.
 * - `rejected`: the service refused for another reason, or its answer failed validation.
 */
export type ConnectErrorReason = 'denied' | 'wrong_state' | 'expired' | 'misconfigured' | 'unavailable' | 'rejected';

const MESSAGES: Record<ConnectErrorReason, string> = {
  denied: 'The user declined to connect.',
  wrong_state: 'The callback does not belong to a flow started in this session. Start a new flow.',
  expired: 'The authorization code has expired or was used before. Start a new flow.',
  misconfigured: 'The client id, secret, redirect URI or scope differs from the app’s registration.',
  unavailable: 'The service did not answer in time. Start a new flow later.',
  rejected: 'The service refused the flow. Start a new one.',
};

/** A failed connect flow. Its code cannot be used again; call `begin()` to start over. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly reason: ConnectErrorReason;
  /** OAuth error code of the service, if it sent one (RFC 6749 sections 4.1.2.1 and 5.2). */
  readonly oauthError: string | undefined;

  constructor(reason: ConnectErrorReason, options: { cause?: unknown; oauthError?: string | undefined } = {}) {
    super(MESSAGES[reason], { cause: options.cause });
    this.reason = reason;
    this.oauthError = options.oauthError;
  }
}

const MISCONFIGURED = new Set(['invalid_client', 'unauthorized_client', 'invalid_scope', 'unsupported_grant_type']);
const UNAVAILABLE = new Set(['temporarily_unavailable', 'server_error']);
const TIMEOUT_CODES = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);

/** Maps an error of the OAuth library to a `ConnectError`. */
export const toConnectError = (error: unknown): ConnectError => {
  if (error instanceof ConnectError) return error;
  if (error instanceof oauth.AuthorizationResponseError || error instanceof oauth.ResponseBodyError) {
    return new ConnectError(reasonOf(error.error), { cause: error, oauthError: error.error });
  }
  if (error instanceof oauth.WWWAuthenticateChallengeError) return new ConnectError('misconfigured', { cause: error });
  return new ConnectError(isUnavailable(error) ? 'unavailable' : 'rejected', { cause: error });
};

const reasonOf = (oauthError: string): ConnectErrorReason => {
  if (oauthError === 'access_denied') return 'denied';
  if (oauthError === 'invalid_grant') return 'expired';
  if (MISCONFIGURED.has(oauthError)) return 'misconfigured';
  return UNAVAILABLE.has(oauthError) ? 'unavailable' : 'rejected';
};

const isUnavailable = (error: unknown): boolean => {
  // `fetch` reports network failures as a TypeError with a cause. A TypeError without one is a wrong argument.
  if (error instanceof TypeError) return error.cause !== undefined;
  if (!(error instanceof oauth.ClientError)) return false;
  if (error.code !== undefined && TIMEOUT_CODES.has(error.code)) return true;
  return error.cause instanceof Response && (error.cause.status >= 500 || error.cause.status === 429);
};
