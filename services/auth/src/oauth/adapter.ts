import { DEFAULT_SCOPE, DEVICE_GRANT_TYPE } from '@svc/contracts';
import type { Clock } from '@svc/service-kit';
import { decodeJwt } from 'jose';
import { type Adapter, type AdapterPayload, errors, Provider } from 'oidc-provider';
import { isLiveSecret, type OauthClient } from '../apps/index.ts';
import { coarseNetwork } from '../network-address.ts';
import { later, SECOND_MS, toUnixSeconds } from '../time.ts';
import type { Executor } from '../transact.ts';
import { checkPushedRequest, knownScopes } from './authorize-parameters.ts';
import { digestOpaqueValue, digestRefreshToken } from './codes-and-tokens.ts';
import { insertDeviceRequest } from './device-codes.ts';
import { insertProof, insertPushedRequest, pushedQuery, readParameters } from './pushed-requests.ts';
import { clientAddressOf, type EndGrantDeps, endGrantOfRequest, type TokenEndpoint } from './token-request.ts';
import type { TokenQuestion, TokenState } from './token-state.ts';

export interface AdapterDeps extends EndGrantDeps {
  readonly database: Executor;
  readonly issuer: string;
  readonly clock: Clock;
  readonly findClient: TokenEndpoint['findClient'];
  readonly readState: (question: TokenQuestion) => Promise<TokenState>;
}

type Model = Partial<Adapter>;

/**
 * Creates the library's storage, by model. Codes and new refresh tokens are not included: the handlers in
 * `token-endpoint.ts` read and write them.
 */
export const createAdapterFactory = (deps: AdapterDeps): ((name: string) => Adapter) => {
  const models: Readonly<Record<string, Model>> = {
    Client: clientModel(deps),
    RefreshToken: refreshTokenModel(deps),
    Grant: grantModel(deps),
    DeviceCode: deviceCodeModel(deps),
    PushedAuthorizationRequest: pushedRequestModel(deps),
    ReplayDetection: proofModel(deps),
  };
  return (name) => ({ ...unused(name), ...models[name] });
};

const unused = (name: string): Adapter => ({
  find: async () => undefined,
  findByUid: async () => undefined,
  findByUserCode: async () => undefined,
  // Deleting a grant deletes everything that depends on it.
  destroy: async () => undefined,
  revokeByGrantId: async () => undefined,
  upsert: async () => {
    throw new Error(`${name} is not stored`);
  },
  consume: async () => {
    throw new Error(`${name} cannot be used up`);
  },
});

/** Returns the context of the request that the library is handling. */
const currentRequest = (): NonNullable<typeof Provider.ctx> => {
  const { ctx } = Provider;
  if (ctx === undefined) throw new Error('the library was used outside of a request');
  return ctx;
};

const clientModel = ({ findClient }: AdapterDeps): Model => ({
  find: async (clientId) => {
    const client = await findClient(clientId);
    // The library's schema validates the result; its type declares the same members as literals.
    return client === undefined ? undefined : (toClientMetadata(client) as AdapterPayload);
  },
});

/** Reads refresh tokens for the revocation endpoint. */
const refreshTokenModel = (deps: AdapterDeps): Model => ({
  find: async (value) => {
    const digests = digestRefreshToken(value);
    if (digests === undefined) return undefined;
    const { refreshToken: token } = await deps.readState({
      clientId: null,
      code: null,
      deviceCode: null,
      refreshToken: digests,
    });
    if (token === undefined) return undefined;
    return {
      jti: value,
      kind: 'RefreshToken',
      clientId: token.grant.clientId,
      grantId: token.grant.id,
      iat: toUnixSeconds(token.issuedAt),
      exp: toUnixSeconds(token.expiresAt),
    };
  },
});

/** Ends the grant of a revoked refresh token (RFC 7009 section 2.1). */
const grantModel = (deps: AdapterDeps): Model => ({
  destroy: (grantId) => endGrantOfRequest(deps, currentRequest().req, { grantId, action: 'revoked_by_app' }),
});

/** Stores pushed requests. The library wraps the parameters in a JWT; they are stored unwrapped. */
const pushedRequestModel = (deps: AdapterDeps): Model => ({
  upsert: async (value, { request }, expiresInSeconds = 0) => {
    const clientId = currentRequest().oidc.client?.clientId;
    if (clientId === undefined || request === undefined) throw new Error('a pushed request is not whole');
    const parameters = readParameters(decodeJwt(request));
    checkPushedRequest(pushedQuery(clientId, parameters), deps.issuer);
    await insertPushedRequest(deps.database, {
      digest: digestOpaqueValue(value),
      clientId,
      parameters,
      expiresAt: later(deps.clock(), expiresInSeconds * SECOND_MS),
    });
  },
});

/** Stores requests of devices, which the library has not checked for our rules yet. */
const deviceCodeModel = (deps: AdapterDeps): Model => ({
  upsert: async (value, { params = {}, userCode }, expiresInSeconds = 0) => {
    const { oidc, req } = currentRequest();
    const { client } = oidc;
    if (client === undefined || userCode === undefined) throw new Error('a request of a device is not whole');
    if (client['svc_device_flow'] !== true) throw new errors.UnauthorizedClient('the app has no device_flow');
    const { scope = DEFAULT_SCOPE, device_name: deviceName, authorization_details: details } = params;
    const known = knownScopes(String(scope));
    if (known.length === 0) throw new errors.InvalidScope('scope names none that exists', String(scope));
    const isStored = await insertDeviceRequest(deps.database, {
      digest: digestOpaqueValue(value),
      clientId: client.clientId,
      userCode,
      scope: known.join(' '),
      authorizationDetails: typeof details === 'string' ? details : null,
      deviceName: typeof deviceName === 'string' ? deviceName.trim() : null,
      network: coarseNetwork(clientAddressOf(req)),
      expiresInSeconds,
    });
    if (!isStored) throw new errors.TemporarilyUnavailable('ask again');
  },
});

/**
 * Stores DPoP proofs of pushed requests. The library does not look for earlier ones, so a repeated proof is refused on
 * insert.
 */
const proofModel = (deps: AdapterDeps): Model => ({
  upsert: async (value, _payload, expiresInSeconds = 0) => {
    const expiresAt = later(deps.clock(), expiresInSeconds * SECOND_MS);
    const isFirst = await insertProof(deps.database, { digest: digestOpaqueValue(value), expiresAt });
    if (!isFirst) throw new errors.InvalidDpopProof('DPoP proof used before');
  },
});

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
const toClientMetadata = ({ app, secrets }: OauthClient) => ({
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
