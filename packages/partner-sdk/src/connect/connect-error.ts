import * as oauth from 'openid-client';

/**
 * Why a connect flow, or a refresh, did not give tokens.
 *
 * - `denied`: the user said no.
 * - `wrong_state`: the callback does not belong to a flow that this browser session began. Nobody was connected.
 * - `expired`: the code is older than five minutes, was used before, or the verifier is another flow's.
 * - `misconfigured`: the client id, secret, redirect URI or scope is not what was registered.
 * - `unavailable`: the service did not answer, or not in time.
 * - `rejected`: anything else that the service, or the check of its answer, refused.
 */
export type ConnectErrorReason = 'denied' | 'wrong_state' | 'expired' | 'misconfigured' | 'unavailable' | 'rejected';

const MESSAGES: Record<ConnectErrorReason, string> = {
  denied: 'The user declined to connect.',
  wrong_state: 'The callback does not belong to a flow begun in this session. Begin a new one.',
  expired: 'The authorization code has expired or was used before. Begin a new flow.',
  misconfigured: 'The client id, secret, redirect URI or scope is not what is registered for this app.',
  unavailable: 'The service did not answer in time. Begin a new flow later.',
  rejected: 'The service refused the flow. Begin a new one.',
};

/** A connect flow failed; whatever the reason, its code cannot be used again, so the way on is a new `begin()`. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError';
  readonly reason: ConnectErrorReason;
  /** The OAuth error code that the service sent, where it sent one (RFC 6749 sections 4.1.2.1 and 5.2). */
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

/** What the OAuth library threw, as one of the reasons. */
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
  // `fetch` reports every network failure as a TypeError with a cause; a TypeError without one is a wrong argument.
  if (error instanceof TypeError) return error.cause !== undefined;
  if (!(error instanceof oauth.ClientError)) return false;
  if (error.code !== undefined && TIMEOUT_CODES.has(error.code)) return true;
  return error.cause instanceof Response && (error.cause.status >= 500 || error.cause.status === 429);
};
