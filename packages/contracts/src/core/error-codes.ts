/** Kinds of error that operations throw, with the default HTTP status of each. */
export const errorKinds = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  limit: 429,
  unavailable: 503,
  internal: 500,
} as const;

export type ErrorKind = keyof typeof errorKinds;

/** Part of the product that returns a code. `internal` codes occur only on routes between services. */
export type ErrorOwner = 'any' | 'internal' | 'auth' | 'billing' | 'inference-gateway' | 'webhook-dispatcher';

export interface ErrorCodeDefinition {
  readonly owner: ErrorOwner;
  readonly kind: ErrorKind;
  readonly status: number;
  readonly description: string;
}

const code = (owner: ErrorOwner, kind: ErrorKind, status: number, description: string): ErrorCodeDefinition => ({
  owner,
  kind,
  status,
  description,
});

/** Every error code, with its status and its message to the caller. */
export const errorCodes = {
  not_authenticated: code('any', 'unauthenticated', 401, 'No credential was sent.'),
  invalid_token: code(
    'any',
    'unauthenticated',
    401,
    'The credential is unknown, expired or revoked. Refresh it, or connect again.',
  ),
  insufficient_scope: code('any', 'forbidden', 403, 'The access token lacks the scope that this endpoint requires.'),
  caller_not_allowed: code('internal', 'forbidden', 403, 'This service may not call this internal route.'),
  email_not_verified: code(
    'any',
    'forbidden',
    403,
    'Confirm your email address first. `requestVerification` mails a new link.',
  ),
  business_account_required: code('any', 'forbidden', 403, 'Only a business account may do this.'),
  reauthentication_required: code(
    'any',
    'forbidden',
    403,
    'The person must prove who they are again: see `POST /v1/console/session/reauthenticate`. Then repeat this.',
  ),
  not_found: code('any', 'not_found', 404, 'The resource does not exist, or it belongs to another account.'),
  repeated_host: code('any', 'invalid', 400, 'The request has more than one `Host` header.'),
  method_not_allowed: code('any', 'invalid', 405, 'The path exists, but not with this method; see the `Allow` header.'),
  request_timeout: code(
    'any',
    'invalid',
    408,
    'The request was not received completely. Nothing was done; send it again.',
  ),
  payload_too_large: code('any', 'invalid', 413, 'The body is larger than this endpoint accepts.'),
  payload_too_complex: code(
    'inference-gateway',
    'invalid',
    413,
    'The JSON body has more than 500,000 values, or more than 64 levels of nesting.',
  ),
  unsupported_media_type: code('any', 'invalid', 415, 'This endpoint does not accept the body’s type or encoding.'),
  internal_error: code('any', 'internal', 500, 'An internal error occurred. Quote the request id to support.'),
  not_implemented: code('any', 'unavailable', 501, 'This endpoint is not available in this release.'),
  service_unavailable: code('any', 'unavailable', 503, 'A part of the service is temporarily unavailable. Try again.'),

  email_taken: code('auth', 'conflict', 409, 'An account with this email address exists.'),
  invalid_credentials: code('auth', 'unauthenticated', 401, 'The email address or the password is wrong.'),
  second_factor_required: code(
    'auth',
    'unauthenticated',
    401,
    'The password is right. Send `challenge` and one of `factors` to `POST /v1/console/sessions/second-factor`.',
  ),
  challenge_invalid: code('auth', 'unauthenticated', 401, 'The challenge is unknown, used or expired. Sign in again.'),
  invalid_second_factor: code('auth', 'unauthenticated', 401, 'The second factor is wrong, or it was used already.'),
  wrong_code: code('auth', 'forbidden', 403, 'The code or passkey is wrong, or it was used already.'),
  invalid_passkey: code(
    'auth',
    'unauthenticated',
    401,
    'The passkey is unknown, or its answer is not valid. Try again.',
  ),
  passkey_rejected: code('auth', 'invalid', 400, 'The passkey’s answer does not fit the options. Get new ones.'),
  passkey_registered: code('auth', 'conflict', 409, 'This passkey is registered already.'),
  factor_limit_reached: code('auth', 'conflict', 409, 'The account has ten second factors. Remove one first.'),
  second_factor_missing: code('auth', 'conflict', 409, 'The account has no second factor.'),
  wrong_password: code('auth', 'forbidden', 403, 'The current password is wrong.'),
  fresh_sign_in_required: code(
    'auth',
    'forbidden',
    403,
    'The account has no password. Sign in again and repeat this within ten minutes.',
  ),
  too_many_attempts: code('auth', 'limit', 429, 'Too many failed attempts. Wait for the time in `Retry-After`.'),
  account_deletion_pending: code(
    'auth',
    'forbidden',
    403,
    'The account is about to be deleted. The link in the mail about it cancels that.',
  ),
  token_invalid: code('auth', 'invalid', 400, 'The link was used before or has expired. Ask for a new one.'),
  signing_key_not_ready: code(
    'auth',
    'conflict',
    409,
    'The next signing key was published too recently for all verifiers to know it. Try again in an hour.',
  ),
  app_inactive: code('auth', 'forbidden', 403, 'The app is deactivated.'),
  app_suspended: code('auth', 'forbidden', 403, 'An operator has suspended the app. Only an operator can lift that.'),
  unknown_app: code('auth', 'invalid', 400, 'There is no active app with this `client_id`.'),
  redirect_uri_not_registered: code('auth', 'invalid', 400, 'The `redirect_uri` is not registered for this app.'),
  pushed_request_required: code(
    'auth',
    'invalid',
    400,
    'The app accepts only pushed authorization requests. Push the request and send the browser with `request_uri`.',
  ),
  pushed_request_unknown: code(
    'auth',
    'invalid',
    400,
    'The pushed request was used, has expired, or belongs to another app. Push it again.',
  ),
  public_client_has_no_secret: code('auth', 'conflict', 409, 'A public app has no secret to rotate.'),
  domain_taken: code('auth', 'conflict', 409, 'Another account has proven that it owns this domain.'),
  domain_not_proven: code(
    'auth',
    'conflict',
    409,
    'The proof was not found: see `dns` and `file`. New DNS records can take some minutes to show.',
  ),
  domain_limit_reached: code('auth', 'conflict', 409, 'The business has five domains. Remove one first.'),
  sso_not_configured: code('auth', 'not_found', 404, 'Single sign-on is not configured.'),
  sso_failed: code('auth', 'unauthenticated', 401, 'The upstream sign-in failed or was refused.'),

  subscription_inactive: code('billing', 'limit', 402, 'There is no active subscription.'),
  weekly_limit_exceeded: code('billing', 'limit', 402, 'The weekly cap is reached; it resets at `resets_at`.'),
  monthly_limit_exceeded: code('billing', 'limit', 402, 'The monthly cap is reached; it resets at `resets_at`.'),
  subscription_requests_pending: code(
    'billing',
    'limit',
    429,
    'Two requests of this account are already pending. Wait before retrying.',
  ),
  connection_paused: code('billing', 'forbidden', 403, 'The user has paused the app; see `manage_url`.'),
  app_limit_exceeded: code(
    'billing',
    'limit',
    402,
    'What is left of the app’s budget does not cover this request. It resets at `resets_at`; the user can change it at `manage_url`.',
  ),
  app_requests_pending: code(
    'billing',
    'limit',
    429,
    'Running requests hold what is left of the app’s budget. Wait for the time in `Retry-After`.',
  ),
  app_budget_expired: code(
    'billing',
    'limit',
    402,
    'The app’s budget has expired; the user can renew it at `manage_url`.',
  ),
  subscription_service_not_included: code('billing', 'forbidden', 403, 'The plan does not include this service.'),
  subscription_already_active: code(
    'billing',
    'conflict',
    409,
    'A subscription is already active. Change it in the portal.',
  ),
  checkout_not_completed: code('billing', 'conflict', 409, 'The checkout session is not paid yet, or it has expired.'),
  billing_account_missing: code(
    'billing',
    'conflict',
    409,
    'The account has never bought anything, so it has no portal.',
  ),
  refund_not_possible: code(
    'billing',
    'conflict',
    409,
    'The top-up or the available wallet balance does not cover this refund.',
  ),
  payment_method_missing: code(
    'billing',
    'conflict',
    409,
    'There is no saved payment method. Pay for a top-up or a subscription first; its payment method is saved.',
  ),
  payment_provider_unavailable: code(
    'billing',
    'unavailable',
    503,
    'The payment provider did not answer. Nothing was charged; try again.',
  ),
  not_settled: code('billing', 'conflict', 409, 'The cost of the request is not final yet. Try again later.'),
  invalid_signature: code('billing', 'invalid', 400, 'The event is not signed by the payment provider.'),
  insufficient_balance: code('billing', 'limit', 402, 'The wallet does not cover this request.'),
  rate_limit_exceeded: code(
    'billing',
    'limit',
    429,
    'The API key has reached its requests or tokens per minute; see `Retry-After`.',
  ),
  key_monthly_limit_exceeded: code('billing', 'limit', 402, 'The API key has reached its own monthly limit.'),

  duplicate_request: code(
    'inference-gateway',
    'conflict',
    409,
    'A request with this `Idempotency-Key` was already accepted; see `request_id` and `state`.',
  ),
  subscription_transcription_not_configured: code(
    'inference-gateway',
    'unavailable',
    503,
    'Audio transcription is not configured on this server.',
  ),
  upstream_error: code('inference-gateway', 'unavailable', 502, 'The provider failed to answer. Nothing was billed.'),
  upstream_unavailable: code(
    'inference-gateway',
    'unavailable',
    503,
    'No provider can serve the request now. Nothing was billed; try again later.',
  ),
  upstream_rejected: code(
    'inference-gateway',
    'invalid',
    400,
    'The provider refused the request as invalid. Nothing was billed.',
  ),
  upstream_timeout_uncertain: code(
    'inference-gateway',
    'unavailable',
    504,
    'The outcome is unknown and may have cost something. Check the usage before you repeat it.',
  ),
  invalid_api_key: code(
    'inference-gateway',
    'unauthenticated',
    401,
    'The API key is missing, unknown, expired or deleted.',
  ),
  invalid_request_error: code('inference-gateway', 'invalid', 400, 'The gateway cannot read the request.'),
  model_not_found: code('inference-gateway', 'not_found', 404, 'There is no such model.'),
  model_not_allowed: code('inference-gateway', 'forbidden', 403, 'The API key may not use this model.'),
  unsupported_parameter: code(
    'inference-gateway',
    'invalid',
    400,
    'This endpoint does not support the parameter in `param`.',
  ),
  compliance_metadata_missing: code(
    'inference-gateway',
    'unavailable',
    502,
    'The provider’s answer lacks the metadata that the compliance contract requires.',
  ),
  provider_attribution_ambiguous: code(
    'inference-gateway',
    'unavailable',
    502,
    'The answer does not identify its provider or model unambiguously.',
  ),
  no_certified_route: code('inference-gateway', 'unavailable', 503, 'No certified route serves this model now.'),
  compliance_mode_unsupported: code(
    'inference-gateway',
    'invalid',
    400,
    'The `X-Svc-Compliance` mode is unknown or not served on these routes.',
  ),

  webhook_queue_full: code(
    'webhook-dispatcher',
    'limit',
    429,
    'Too many events wait for delivery. Repair the receiver, or skip the failed event; then send the test.',
  ),
  webhook_not_configured: code('webhook-dispatcher', 'conflict', 409, 'The app has no webhook configuration.'),
  event_not_queued: code(
    'webhook-dispatcher',
    'conflict',
    409,
    'Only a queued event can be delivered now, and only if no failed one blocks it.',
  ),
  event_not_failed: code('webhook-dispatcher', 'conflict', 409, 'Only a failed event can be recovered.'),
} as const satisfies Record<string, ErrorCodeDefinition>;

export type ErrorCode = keyof typeof errorCodes;
