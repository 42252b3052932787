/**
 * Reason why a connect flow or a refresh gave no tokens.
 *
 * - `denied`: the user declined.
 * - `wrong_state`: the callback does not belong to a flow of this browser session. No user was connected.
 * - `expired`: the code is older than five minutes (that of a device: ten), was used before, or belongs to another
 *   verifier.
 * - `misconfigured`: the client id, secret, redirect URI or scope differs from the registration.
 * - `interaction_required`: `prompt: 'none'` was asked for, and the user has to sign in or to consent.
 * - `unavailable`: the service did not answer in time.
 * - `rejected`: the service refused for another reason, or its answer failed validation.
 */
export type ConnectErrorReason =
  | 'denied'
  | 'wrong_state'
  | 'expired'
  | 'misconfigured'
  | 'interaction_required'
  | 'unavailable'
  | 'rejected';

const MESSAGES: Record<ConnectErrorReason, string> = {
  denied: 'The user declined to connect.',
  wrong_state: 'The callback does not belong to a flow started in this session. Start a new flow.',
  expired: 'The authorization code has expired or was used before. Start a new flow.',
  misconfigured: 'The client id, secret, redirect URI or scope differs from the app’s registration.',
  interaction_required: 'The user has to sign in or to consent. Start a new flow without `prompt`.',
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

const REASONS: Readonly<Record<string, ConnectErrorReason>> = {
  access_denied: 'denied',
  invalid_grant: 'expired',
  expired_token: 'expired',
  invalid_client: 'misconfigured',
  unauthorized_client: 'misconfigured',
  invalid_scope: 'misconfigured',
  unsupported_grant_type: 'misconfigured',
  login_required: 'interaction_required',
  consent_required: 'interaction_required',
  interaction_required: 'interaction_required',
  temporarily_unavailable: 'unavailable',
  server_error: 'unavailable',
};

/** Maps an OAuth error code to a `ConnectError`. */
export const toConnectError = (oauthError: string): ConnectError => {
  const reason = Object.hasOwn(REASONS, oauthError) ? REASONS[oauthError] : undefined;
  return new ConnectError(reason ?? 'rejected', { oauthError });
};
