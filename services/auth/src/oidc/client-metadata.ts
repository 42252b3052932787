import { DEVICE_GRANT_TYPE } from '@svc/contracts';
import { isLiveSecret, type OauthClient } from '../apps/index.ts';

/** The library requires one, but never uses it: our endpoints compare redirect URIs by stricter rules. */
const UNUSED_REDIRECT_URI = 'https://unused.invalid/';
/** The library requires one, but never uses it: secrets are compared by digest. */
const UNUSED_SECRET = 'only-digests-are-stored';

/** Names of our additions to the library's client metadata. */
export const EXTRA_CLIENT_METADATA = ['svc_secrets', 'svc_redirect_uris', 'svc_device_flow'];

/** A secret in the form that the library can hash and cache. */
export interface SecretMetadata {
  readonly digest: string;
  readonly expires_at: number | null;
}

/** Maps an app to the library's client metadata (RFC 7591 section 2). */
export const toClientMetadata = ({ app, secrets }: OauthClient) => ({
  client_id: app.clientId,
  client_name: app.name,
  redirect_uris: [UNUSED_REDIRECT_URI],
  // Our endpoints refuse devices of apps without `device_flow`, with the error of RFC 6749 section 5.2.
  grant_types: ['authorization_code', 'refresh_token', DEVICE_GRANT_TYPE],
  response_types: ['code'],
  token_endpoint_auth_method: app.clientType === 'confidential' ? 'client_secret_basic' : 'none',
  ...(app.clientType === 'confidential' ? { client_secret: UNUSED_SECRET } : {}),
  dpop_bound_access_tokens: app.dpopBoundAccessTokens,
  svc_secrets: secrets.map(
    ({ digest, expiresAt }): SecretMetadata => ({
      digest: digest.toString('base64url'),
      expires_at: expiresAt?.getTime() ?? null,
    }),
  ),
  svc_redirect_uris: app.redirectUris,
  svc_device_flow: app.deviceFlow,
});

/** Compares a presented secret with the digests in a client's metadata. */
export const isClientSecret = (secrets: readonly SecretMetadata[], presented: string, now: Date): boolean =>
  isLiveSecret(
    secrets.map(({ digest, expires_at }) => ({
      digest: Buffer.from(digest, 'base64url'),
      expiresAt: expires_at === null ? null : new Date(expires_at),
    })),
    presented,
    now,
  );
