import { type AuthorizeQuery, authorizeQuerySchema, DEFAULT_SCOPE, type Scope, scopes } from '@svc/contracts';
import type { Clock } from '@svc/service-kit';
import { decodeJwt } from 'jose';
import { type Adapter, type AdapterPayload, errors, Provider } from 'oidc-provider';
import { coarseNetwork } from '../network-address.ts';
import { later, SECOND_MS, toUnixSeconds } from '../time.ts';
import type { Executor } from '../transact.ts';
import { toClientMetadata } from './client-metadata.ts';
import { insertDeviceRequest } from './device-code-queries.ts';
import { clientAddressOf, type EndGrantDeps, endGrantOfRequest } from './end-grant-of-request.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { ownResources } from './own-resources.ts';
import { insertProof, insertPushedRequest } from './pushed-request-queries.ts';
import { digestRefreshToken } from './refresh-token.ts';
import { pushedQuery, readParameters } from './resolve-pushed-request.ts';
import type { TokenEndpoint } from './token-context.ts';
import type { TokenQuestion, TokenState } from './token-state.ts';

/** A fault that is reported to the app: at its redirect URI, or when it pushes the request. */
interface ParameterFault {
  readonly error: 'invalid_request' | 'invalid_scope' | 'invalid_target' | 'request_not_supported';
  readonly description: string;
}

/** Returns the first such fault of a query (RFC 6749 section 4.1.2.1, RFC 8707 section 2). */
export const findParameterFault = (query: AuthorizeQuery, issuer: string): ParameterFault | undefined => {
  const own = ownResources(issuer);
  const prompts = query.prompt?.split(' ') ?? [];
  if (query.request !== undefined) {
    return { error: 'request_not_supported', description: 'push the request instead of signing it' };
  }
  if (query.response_mode !== undefined && query.response_mode !== 'query') {
    return { error: 'invalid_request', description: 'response_mode must be query' };
  }
  if (prompts.includes('none') && prompts.length > 1) {
    return { error: 'invalid_request', description: 'prompt none must stand alone' };
  }
  if (knownScopes(query.scope).length === 0) {
    return { error: 'invalid_scope', description: 'scope names none that exists' };
  }
  if (query.resource?.some((each) => !own.includes(each)) === true) {
    return { error: 'invalid_target', description: 'resource must be this API' };
  }
  return undefined;
};

/** Returns the known scopes of a list, without duplicates and in our order (RFC 6749 section 3.3). */
export const knownScopes = (text: string): Scope[] => {
  const names = new Set(text.split(' '));
  return scopes.filter((scope) => names.has(scope));
};

/**
 * Checks a pushed request as the authorize page will (RFC 9126 section 2.1), so that the app gets the error instead of
 * the person in the browser. Throws the library's error.
 */
const checkPushedRequest = (query: URLSearchParams, issuer: string): void => {
  const resource = query.getAll('resource');
  const read = authorizeQuerySchema.safeParse({
    ...Object.fromEntries(query),
    resource: resource.length === 0 ? undefined : resource,
  });
  const unstorable = [...query].filter(([, value]) => value.includes('\0')).map(([name]) => name);
  if (!read.success || unstorable.length > 0) {
    const names = new Set([...unstorable, ...(read.error?.issues.map(({ path }) => String(path[0])) ?? [])]);
    throw new errors.InvalidRequest(`missing or invalid parameter(s): ${[...names].join(', ')}`);
  }
  const fault = findParameterFault(read.data, issuer);
  if (fault !== undefined) throw toLibraryError(fault, read.data.scope);
};

const toLibraryError = ({ error, description }: ParameterFault, scope: string): Error => {
  switch (error) {
    case 'invalid_request':
      return new errors.InvalidRequest(description);
    case 'invalid_scope':
      return new errors.InvalidScope(description, scope);
    case 'invalid_target':
      return new errors.InvalidTarget(description);
    case 'request_not_supported':
      return new errors.RequestNotSupported(description);
  }
};

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
