import { generateKeyPairSync } from 'node:crypto';
import { DEFAULT_SCOPE, deviceNameSchema, scopes } from '@svc/contracts';
import { DPOP_ALGORITHMS } from '@svc/service-kit';
import {
  type Client,
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';
import { isRegisteredRedirectUri } from '../apps/index.ts';
import { SIGNING_ALGORITHM } from '../signing-keys.ts';
import {
  type AdapterDeps,
  createAdapterFactory,
  EXTRA_CLIENT_METADATA,
  isClientSecret,
  type SecretMetadata,
} from './adapter.ts';
import { DEVICE_CODE_SECONDS } from './codes-and-tokens.ts';
import { OAUTH_PATH, ownResources } from './server-metadata.ts';

export interface LibraryProviderDeps extends AdapterDeps {
  readonly resource: string;
  /** Returns true if the `authorization_details` of a request are well-formed. */
  readonly areDetailsReadable: (text: string | undefined) => boolean;
}

/** Creates the library's provider. Only its token, revocation, pushed-request and device endpoints are used. */
export const createLibraryProvider = (deps: LibraryProviderDeps): Provider => {
  const provider = new Provider(deps.issuer, configuration(deps));
  overrideClient(provider, deps);
  // It builds URLs from the forwarded headers, which the server sets from the issuer.
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
  ttl: { DeviceCode: DEVICE_CODE_SECONDS },
  scopes: [...scopes],
  extraParams: {
    locale: null,
    device_name: (_ctx, value) => {
      if (value !== undefined && !deviceNameSchema.safeParse(value).success)
        throw new errors.InvalidRequest('device_name is malformed');
    },
    // RFC 9396 section 5. The authorize page parses them again.
    authorization_details: (_ctx, value) => {
      if (!deps.areDetailsReadable(value)) throw new errors.InvalidAuthorizationDetails('malformed');
    },
  },
  pkce: { required: () => true },
  interactions: { policy: pushablePrompts() },
  // Enables refresh tokens, which the handlers issue with every code.
  issueRefreshToken: async () => true,
  clientBasedCORS: () => true,
  features: {
    // Only its device authorization endpoint: the pages and the polls are ours.
    deviceFlow: { enabled: true, charset: 'base-20', mask: '****-****' },
    devInteractions: { enabled: false },
    // Apps that send a proof get tokens bound to its key. Proofs are optional.
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
    device_authorization: `${OAUTH_PATH}/device_authorization`,
    // Never served by the library, which puts it into its responses.
    code_verification: `${OAUTH_PATH}/device`,
  },
  renderError: async (ctx: KoaContextWithOIDC, out) => {
    ctx.type = 'json';
    ctx.body = out;
  },
});

/** Returns the library's prompts and `create`, which the authorize page knows too. The library refuses all others. */
const pushablePrompts = (): interactionPolicy.Prompt[] => {
  const policy = interactionPolicy.base();
  policy.add(new interactionPolicy.Prompt({ name: 'create', requestable: true }));
  return policy;
};

/** Returns a signing key. The library does not start without one, although no used endpoint signs with it. */
const unusedKey = () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: SIGNING_ALGORITHM, use: 'sig' };
};

type ResourceIndicators = NonNullable<Configuration['features']>['resourceIndicators'];

/** Makes the indication of a resource optional (RFC 8707 section 2), and refuses foreign ones. */
const resourceIndicators = ({ issuer, resource }: LibraryProviderDeps): ResourceIndicators => ({
  enabled: true,
  defaultResource: async () => resource,
  getResourceServerInfo: async (_ctx, indicator) => {
    if (!ownResources(issuer).includes(indicator)) throw new errors.InvalidTarget();
    return { scope: DEFAULT_SCOPE, audience: resource };
  },
});

/** Overrides two comparisons, as the library intends: secrets by digest, redirect URIs by our rules. */
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
  // Only `toClientMetadata` creates clients, and it sets both members with these types.
  return value as T;
};
