import { DEFAULT_SCOPE, scopes } from '@svc/contracts';
import type { Logger } from '@svc/service-kit';
import { type Client, type Configuration, errors, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import { isRegisteredRedirectUri } from '../apps/index.ts';
import { SECOND_MS } from '../clock.ts';
import { SIGNING_ALGORITHM, type SigningKey } from '../signing-keys/index.ts';
import { type AdapterDeps, createAdapterFactory } from './adapter.ts';
import { EXTRA_CLIENT_METADATA, isClientSecret, isOriginOf, type SecretMetadata } from './client-metadata.ts';
import { ACCESS_TOKEN_SECONDS, CODE_MS, REFRESH_TOKEN_SECONDS } from './lifetimes.ts';
import { digestOpaqueValue, newOpaqueValue } from './opaque-value.ts';
import { insertProof } from './pushed-request-queries.ts';
import { OAUTH_PATH } from './server-metadata.ts';
import { currentTokenWork } from './token-work.ts';

/** What the library needs of us. */
export interface LibraryProviderDeps extends AdapterDeps {
  issuer: string;
  logger: Logger;
}

/** Values that the library demands for what we do not use: its own pages, sessions and ID tokens. */
const UNUSED_SECONDS = 60;

/** Makes the library's provider for one signing key; only its token and revocation endpoints are ever called. */
export const createLibraryProvider = (deps: LibraryProviderDeps, key: SigningKey): Provider => {
  const provider = new Provider(deps.issuer, configuration(deps, key));
  overrideModels(provider, deps);
  // It builds its own addresses from these headers, which the server sets from the issuer.
  provider.proxy = true;
  // Koa would print what goes wrong; whoever asks the library logs it.
  provider.silent = true;
  return provider;
};

const configuration = (deps: LibraryProviderDeps, key: SigningKey): Configuration => ({
  adapter: createAdapterFactory(deps),
  jwks: { keys: [{ ...key.privateKey.export({ format: 'jwk' }), kid: key.kid, alg: SIGNING_ALGORITHM, use: 'sig' }] },
  clientDefaults: { id_token_signed_response_alg: SIGNING_ALGORITHM },
  enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALGORITHM], dPoPSigningAlgValues: ['ES256', 'EdDSA', 'Ed25519'] },
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  extraClientMetadata: { properties: EXTRA_CLIENT_METADATA, validator: () => undefined },
  responseTypes: ['code'],
  scopes: [...scopes],
  subjectTypes: ['public'],
  extraParams: ['locale'],
  pkce: { required: () => true },
  // RFC 6749 section 4.1.3: the token request repeats the redirect URI, always.
  allowOmittingSingleRegisteredRedirectUri: false,
  rotateRefreshToken: true,
  issueRefreshToken: async () => true,
  expiresWithSession: async () => false,
  // A grant refers to its account in the database, so one that was found has an account.
  findAccount: async (_ctx, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
  extraTokenClaims: async (_ctx, token) => ('grantId' in token ? { grant_id: token.grantId } : undefined),
  ttl: {
    AccessToken: ACCESS_TOKEN_SECONDS,
    AuthorizationCode: CODE_MS / 1000,
    RefreshToken: REFRESH_TOKEN_SECONDS,
    Grant: REFRESH_TOKEN_SECONDS,
    IdToken: UNUSED_SECONDS,
    Interaction: UNUSED_SECONDS,
    Session: UNUSED_SECONDS,
  },
  // Our own pages send their origin as well: the reference of the API has a form for each endpoint.
  clientBasedCORS: (_ctx, origin, client) =>
    origin === new URL(deps.issuer).origin || isOriginOf(extra<string[]>(client, 'svc_redirect_uris'), origin),
  features: features(deps),
  routes: {
    token: `${OAUTH_PATH}/token`,
    revocation: `${OAUTH_PATH}/revoke`,
    pushed_authorization_request: `${OAUTH_PATH}/par`,
  },
  renderError: async (ctx: KoaContextWithOIDC, out) => {
    ctx.type = 'json';
    ctx.body = out;
  },
});

const features = (deps: LibraryProviderDeps): Configuration['features'] => ({
  devInteractions: { enabled: false },
  // Apps that send a proof get tokens bound to its key; nobody has to.
  dPoP: { enabled: true, requireNonce: () => false },
  introspection: { enabled: false },
  pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: false },
  rpInitiatedLogout: { enabled: false },
  userinfo: { enabled: false },
  revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
  resourceIndicators: {
    enabled: true,
    // Clients need not name the one resource server there is (RFC 8707 section 2).
    defaultResource: async () => deps.resource,
    useGrantedResource: async () => true,
    getResourceServerInfo: async (_ctx, indicator) => {
      if (indicator !== deps.resource) throw new errors.InvalidTarget();
      return {
        scope: DEFAULT_SCOPE,
        audience: deps.resource,
        accessTokenTTL: ACCESS_TOKEN_SECONDS,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: SIGNING_ALGORITHM } },
      };
    },
  },
});

/** The library's own places to change how it compares secrets and makes values. */
const overrideModels = (provider: Provider, deps: LibraryProviderDeps): void => {
  const { clock } = deps;
  provider.Client.prototype.compareClientSecret = function compare(this: Client, presented: string): boolean {
    return isClientSecret(extra<SecretMetadata[]>(this, 'svc_secrets'), presented, clock());
  };
  provider.Client.prototype.redirectUriAllowed = (uri: string): boolean => {
    const { app } = currentTokenWork();
    return app !== undefined && isRegisteredRedirectUri(app.redirectUris, uri);
  };
  // The library would look and then write: two proofs at one time would both be the first.
  Reflect.set(
    provider.ReplayDetection,
    'unique',
    (clientId: string, jti: string, exp: number): Promise<boolean> =>
      insertProof(deps.database, {
        digest: digestOpaqueValue(`${clientId} ${jti}`),
        expiresAt: new Date(exp * SECOND_MS),
      }),
  );
  Reflect.set(provider.RefreshToken.prototype, 'generateTokenId', () => newOpaqueValue('refresh_token'));
};

/** What `toClientMetadata` has put into a client. */
const extra = <T>(client: Client, name: 'svc_secrets' | 'svc_redirect_uris'): T => {
  const value: unknown = Reflect.get(client, name);
  if (!Array.isArray(value)) throw new TypeError(`a client has no ${name}`);
  // Only `toClientMetadata` makes clients, and it gives both names these types.
  return value as T;
};
