/** What went wrong, as operations say it; the HTTP status of each is the default for its kind. */
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

/** One of the error kinds. */
export type ErrorKind = keyof typeof errorKinds;

/** The part of the product that answers with a code; `internal` codes never leave the routes between services. */
export type ErrorOwner = 'any' | 'internal' | 'auth' | 'billing' | 'inference-gateway' | 'webhook-dispatcher';

/** A registered error code. */
export interface ErrorCodeDefinition {
  owner: ErrorOwner;
  kind: ErrorKind;
  status: number;
  description: string;
}

const code = (owner: ErrorOwner, kind: ErrorKind, status: number, description: string): ErrorCodeDefinition => ({
  owner,
  kind,
  status,
  description,
});

/** Every `code` that an answer can carry, with its status and what it tells the caller. */
export const errorCodes = {
  not_authenticated: code('any', 'unauthenticated', 401, 'No credential was sent.'),
  invalid_token: code(
    'any',
    'unauthenticated',
    401,
    'The credential is unknown, expired or revoked. Refresh it, or connect again.',
  ),
  insufficient_scope: code('any', 'forbidden', 403, 'The access token lacks the scope that this endpoint wants.'),
  caller_not_allowed: code('internal', 'forbidden', 403, 'This service may not call this internal route.'),
  business_account_required: code('any', 'forbidden', 403, 'Only a business account may do this.'),
  not_found: code('any', 'not_found', 404, 'There is no such resource, or it belongs to somebody else.'),
  repeated_host: code('any', 'invalid', 400, 'The request has more than one `Host` header.'),
  method_not_allowed: code('any', 'invalid', 405, 'The path exists, but not with this method; see the `Allow` header.'),
  request_timeout: code(
    'any',
    'invalid',
    408,
    'The request stopped arriving before it was whole. Nothing was done; send it again.',
  ),
  payload_too_large: code('any', 'invalid', 413, 'The body is larger than this endpoint takes.'),
  payload_too_complex: code(
    'inference-gateway',
    'invalid',
    413,
    'The JSON body has more than 500,000 values, or more than 64 levels of nesting.',
  ),
  unsupported_media_type: code(
    'any',
    'invalid',
    415,
    'The body is of a type or encoding that this endpoint does not take.',
  ),
  internal_error: code('any', 'internal', 500, 'Something failed on our side. The request id names it.'),
  not_implemented: code('any', 'unavailable', 501, 'This endpoint is not available in this release.'),
  service_unavailable: code(
    'any',
    'unavailable',
    503,
    'A part of the service is unavailable for the moment. Try again.',
  ),

  email_taken: code('auth', 'conflict', 409, 'An account with this address exists.'),
  invalid_credentials: code('auth', 'unauthenticated', 401, 'Address or password are wrong.'),
  wrong_password: code('auth', 'forbidden', 403, 'The current password is wrong.'),
  fresh_sign_in_required: code(
    'auth',
    'forbidden',
    403,
    'The account has no password: sign in again, and repeat this within ten minutes.',
  ),
  too_many_attempts: code('auth', 'limit', 429, 'Too many failed attempts. Wait for as long as `Retry-After` says.'),
  signing_key_not_ready: code(
    'auth',
    'conflict',
    409,
    'The next signing key has not been published for long enough: verifiers may not know it yet. Try again in an hour.',
  ),
  app_inactive: code('auth', 'forbidden', 403, 'The app is deactivated.'),
  unknown_app: code('auth', 'invalid', 400, 'There is no active app with this `client_id`.'),
  redirect_uri_not_registered: code('auth', 'invalid', 400, 'The `redirect_uri` is not registered for this app.'),
  pushed_request_required: code(
    'auth',
    'invalid',
    400,
    'The app takes pushed authorization requests only: push it, and send the browser with `request_uri`.',
  ),
  pushed_request_unknown: code(
    'auth',
    'invalid',
    400,
    'The pushed request was used, has expired, or is not of this app. Push it again.',
  ),
  public_client_has_no_secret: code('auth', 'conflict', 409, 'A public app has no secret to rotate.'),
  sso_not_configured: code('auth', 'not_found', 404, 'Single sign-on is not configured.'),
  sso_failed: code('auth', 'unauthenticated', 401, 'The upstream sign-in failed or was refused.'),

  subscription_inactive: code('billing', 'limit', 402, 'There is no active subscription.'),
  weekly_limit_exceeded: code('billing', 'limit', 402, 'The weekly cap is reached; `resets_at` says until when.'),
  monthly_limit_exceeded: code('billing', 'limit', 402, 'The monthly cap is reached; `resets_at` says until when.'),
  subscription_requests_pending: code(
    'billing',
    'limit',
    429,
    'Two requests of this account already await billing. Do not retry in an immediate loop.',
  ),
  subscription_service_not_included: code('billing', 'forbidden', 403, 'The plan does not include this service.'),
  subscription_already_active: code(
    'billing',
    'conflict',
    409,
    'A subscription is active already; change it in the portal.',
  ),
  checkout_not_completed: code('billing', 'conflict', 409, 'The checkout session is not paid yet, or it has expired.'),
  billing_account_missing: code(
    'billing',
    'conflict',
    409,
    'Nothing was ever bought with this account, so there is no portal to open.',
  ),
  refund_not_possible: code(
    'billing',
    'conflict',
    409,
    'The top-up, or what is available in the wallet, does not cover this refund.',
  ),
  payment_provider_unavailable: code(
    'billing',
    'unavailable',
    503,
    'The payment provider does not answer. Nothing was charged; try again.',
  ),
  invalid_signature: code('billing', 'invalid', 400, 'The event is not signed by the payment provider.'),
  insufficient_balance: code('billing', 'limit', 402, 'The wallet does not cover this request.'),
  rate_limit_exceeded: code(
    'billing',
    'limit',
    429,
    'The API key has used up its requests for this minute; see `Retry-After`.',
  ),
  key_monthly_limit_exceeded: code('billing', 'limit', 402, 'The API key has reached its own monthly limit.'),

  duplicate_request: code(
    'inference-gateway',
    'conflict',
    409,
    'A request with this `Idempotency-Key` was taken before; `request_id` and `state` tell of it.',
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
    'No provider can take the request now. Nothing was billed; try again later.',
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
    'The outcome is unknown and may have cost something. Do not repeat it blindly: look at the usage first.',
  ),
  invalid_api_key: code(
    'inference-gateway',
    'unauthenticated',
    401,
    'The API key is missing, unknown, expired or deleted.',
  ),
  invalid_request_error: code('inference-gateway', 'invalid', 400, 'The gateway cannot read the request.'),
  model_not_found: code('inference-gateway', 'not_found', 404, 'There is no such model.'),
  compliance_metadata_missing: code(
    'inference-gateway',
    'unavailable',
    502,
    'The provider left out what the compliance contract demands.',
  ),
  provider_attribution_ambiguous: code(
    'inference-gateway',
    'unavailable',
    502,
    'It is ambiguous which provider or model has answered.',
  ),
  no_certified_route: code('inference-gateway', 'unavailable', 503, 'No certified route serves this model now.'),
  compliance_mode_unsupported: code(
    'inference-gateway',
    'invalid',
    400,
    'The `X-Svc-Compliance` mode is unknown or not served on these routes.',
  ),

  webhook_not_configured: code('webhook-dispatcher', 'conflict', 409, 'The app has no webhook configuration.'),
  event_not_failed: code('webhook-dispatcher', 'conflict', 409, 'Only a failed event can be recovered.'),
} as const satisfies Record<string, ErrorCodeDefinition>;

/** One of the registered error codes. */
export type ErrorCode = keyof typeof errorCodes;
