import { generateKeyPairSync } from 'node:crypto';
import { DEFAULT_SCOPE, scopes } from '@svc/contracts';
import { DPOP_ALGORITHMS } from '@svc/service-kit';
import { type Client, type Configuration, errors, type KoaContextWithOIDC, Provider } from 'oidc-provider';
import { isRegisteredRedirectUri } from '../apps/index.ts';
import { SIGNING_ALGORITHM } from '../signing-keys/index.ts';
import { type AdapterDeps, createAdapterFactory } from './adapter.ts';
import { EXTRA_CLIENT_METADATA, isClientSecret, type SecretMetadata } from './client-metadata.ts';
import { ownResources } from './own-resources.ts';
import { OAUTH_PATH } from './server-metadata.ts';

export interface LibraryProviderDeps extends AdapterDeps {
  readonly resource: string;
}

/** Creates the library's provider; only its token, revocation and pushed-request endpoints are ever called. */
export const createLibraryProvider = (deps: LibraryProviderDeps): Provider => {
  const provider = new Provider(deps.issuer, configuration(deps));
  overrideClient(provider, deps);
  // It builds its own addresses from the forwarded headers, which the server sets from the issuer.
  provider.proxy = true;
  // Koa would print errors; the server logs them.
  provider.silent = true;
  return provider;
};

const configuration = (deps: LibraryProviderDeps): Configuration => ({
  adapter: createAdapterFactory(deps),
  jwks: { keys: [unusedKey()] },
  clientDefaults: { id_token_signed_response_alg: SIGNING_ALGORITHM },
  enabledJWA: { idTokenSigningAlgValues: [SIGNING_ALGORITHM], dPoPSigningAlgValues: DPOP_ALGORITHMS },
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
  extraClientMetadata: { properties: EXTRA_CLIENT_METADATA, validator: () => undefined },
  responseTypes: ['code'],
  scopes: [...scopes],
  extraParams: ['locale'],
  pkce: { required: () => true },
  // Enables refresh tokens, which the handlers issue with every code.
  issueRefreshToken: async () => true,
  clientBasedCORS: () => true,
  features: {
    devInteractions: { enabled: false },
    // Apps that send a proof get tokens bound to its key. No app has to.
    dPoP: { enabled: true, requireNonce: () => false },
    introspection: { enabled: false },
    pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests: false },
    resourceIndicators: resourceIndicators(deps),
    revocation: { enabled: true, allowedPolicy: async (_ctx, client, token) => token.clientId === client.clientId },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
  },
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

/** The library does not start without a signing key, but no endpoint in use signs with it. */
const unusedKey = () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: SIGNING_ALGORITHM, use: 'sig' };
};

type ResourceIndicators = NonNullable<Configuration['features']>['resourceIndicators'];

/** Clients need not name the one resource server (RFC 8707 section 2), and may name no other. */
const resourceIndicators = ({ issuer, resource }: LibraryProviderDeps): ResourceIndicators => ({
  enabled: true,
  defaultResource: async () => resource,
  getResourceServerInfo: async (_ctx, indicator) => {
    if (!ownResources(issuer).includes(indicator)) throw new errors.InvalidTarget();
    return { scope: DEFAULT_SCOPE, audience: resource };
  },
});

/** Replaces two comparisons that the library leaves to overriding: secrets by digest, redirect URIs by our rules. */
const overrideClient = (provider: Provider, { clock }: LibraryProviderDeps): void => {
  provider.Client.prototype.compareClientSecret = function compare(this: Client, presented: string): boolean {
    return isClientSecret(extra<SecretMetadata[]>(this, 'svc_secrets'), presented, clock());
  };
  provider.Client.prototype.redirectUriAllowed = function isAllowed(this: Client, uri: string): boolean {
    return isRegisteredRedirectUri(extra<string[]>(this, 'svc_redirect_uris'), uri);
  };
};

/** Returns a member that `toClientMetadata` has added to a client. */
const extra = <T>(client: Client, name: 'svc_secrets' | 'svc_redirect_uris'): T => {
  const value: unknown = Reflect.get(client, name);
  if (!Array.isArray(value)) throw new TypeError(`a client has no ${name}`);
  // Only `toClientMetadata` makes clients, and it gives both names these types.
  return value as T;
};
