import { hash } from 'node:crypto';
import { DEVICE_GRANT_TYPE, isClientId, isMetadataUrl } from '@svc/contracts';
import { errors, Provider } from 'oidc-provider';
import { digestOpaqueValue, digestRefreshToken, newRefreshToken, nextRefreshToken } from './codes-and-tokens.ts';
import { verifyProof } from './dpop-proof.ts';
import { issueTokens, refreshKey, refuseReuse } from './issue-tokens.ts';
import {
  checkClient,
  checkExpiry,
  checkKey,
  checkResource,
  clientAddressOf,
  type GrantHandler,
  type TokenContext,
  type TokenEndpoint,
  type TokenEndpointDeps,
} from './token-request.ts';
import type { TokenQuestion, TokenState } from './token-state.ts';

const {
  AccessDenied,
  AuthorizationPending,
  ExpiredToken,
  InvalidGrant,
  InvalidRequest,
  InvalidScope,
  SlowDown,
  UnauthorizedClient,
} = errors;

// A token request, in the order of its steps. The library parses the form, authenticates the client and renders errors.
// 1. The library asks for the client: `findClient` reads client, code or token, and grant in one round trip.
// 2. The library authenticates the client and calls the handler of the grant type.
// 3. The handler judges what the client presents. Nothing has been written so far.
// 4. `issueTokens` signs an access token and commits the exchange: what was presented is used up, a refresh token stored.
// 5. The response goes out only if the exchange was committed. If a code or token had been used before, the grant ends.
export const createTokenEndpoint = (deps: TokenEndpointDeps): TokenEndpoint => {
  const states = new WeakMap<object, TokenState>();
  const handler =
    (handle: GrantHandler) =>
    async (ctx: TokenContext): Promise<void> => {
      const state = states.get(ctx);
      if (state === undefined) throw new Error('a grant was reached without its client');
      await handle(deps, ctx, state);
    };
  return {
    findClient: async (clientId) => {
      // Other text is no client id, and may contain characters that the database refuses.
      if (!isClientId(clientId)) return undefined;
      const ctx = Provider.ctx;
      if (isMetadataUrl(clientId) && !(await isDocumented(deps, clientId, ctx))) return undefined;
      const state = await deps.readState({ clientId, ...presentedIn(ctx?.oidc.params ?? {}) });
      if (ctx !== undefined) states.set(ctx, state);
      return state.client;
    },
    register: (provider) => {
      const register = (grantType: string, parameters: readonly string[], handle: GrantHandler): void =>
        provider.registerGrantType(grantType, handler(handle), [...parameters, 'resource'], ['resource']);
      register('authorization_code', ['code', 'code_verifier', 'redirect_uri'], redeemCode);
      register('refresh_token', ['refresh_token', 'scope'], exchangeRefreshToken);
      register(DEVICE_GRANT_TYPE, ['device_code'], redeemDeviceCode);
    },
  };
};

/**
 * Returns true if a client that no business registered may ask. Only a pushed request fetches its document: tokens are
 * those of a consent, and outlive an hour in which the host of the document is down.
 */
const isDocumented = async (
  { documents }: TokenEndpointDeps,
  clientId: string,
  ctx: typeof Provider.ctx,
): Promise<boolean> => {
  if (!documents.isEnabled) return false;
  if (ctx?.oidc.route !== 'pushed_authorization_request') return true;
  return await documents.resolve(clientId, clientAddressOf(ctx.req));
};

/** Returns the digests of the code or token that a form presents to the token endpoint. */
const presentedIn = (params: Readonly<Record<string, unknown>>): Omit<TokenQuestion, 'clientId'> => {
  const { grant_type: grantType, code, device_code: deviceCode, refresh_token: refreshToken } = params;
  const isCode = grantType === 'authorization_code' && typeof code === 'string';
  const isDevice = grantType === DEVICE_GRANT_TYPE && typeof deviceCode === 'string';
  const isRefresh = grantType === 'refresh_token' && typeof refreshToken === 'string';
  return {
    code: isCode ? digestOpaqueValue(code) : null,
    deviceCode: isDevice ? digestOpaqueValue(deviceCode) : null,
    refreshToken: isRefresh ? (digestRefreshToken(refreshToken) ?? null) : null,
  };
};

/** Redeems an authorization code (RFC 6749 section 4.1.3). */
const redeemCode: GrantHandler = async (deps, ctx, { code }) => {
  const { code: value, redirect_uri: redirectUri, code_verifier: verifier } = ctx.oidc.params;
  if (value === undefined || redirectUri === undefined) {
    throw new InvalidRequest('code and redirect_uri are required');
  }
  const proof = await verifyProof(ctx);
  if (code === undefined) throw new InvalidGrant('authorization code not found');
  checkClient(ctx, code.grant);
  // A used code counts as stolen, so this precedes the other checks.
  if (code.isConsumed) return await refuseReuse(deps, ctx, code.grant);
  checkExpiry(code);
  if (redirectUri !== code.redirectUri) throw new InvalidGrant('redirect_uri mismatch');
  if (!isVerifierOf(code.codeChallenge, verifier)) throw new InvalidGrant('PKCE verification failed');
  checkKey(ctx, code.dpopJkt, proof?.thumbprint);
  checkResource(deps, ctx);
  await issueTokens(deps, ctx, {
    presented: { kind: 'authorization_code', digest: digestOpaqueValue(value) },
    grant: code.grant,
    budget: code.budget,
    scope: code.grant.scope,
    refreshToken: newRefreshToken(code.grant.id),
    refreshJkt: refreshKey(ctx, proof),
    proof,
  });
};

/** RFC 7636 section 4.1. */
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Verifies PKCE with S256, the only accepted method (RFC 7636 section 4.6). */
const isVerifierOf = (challenge: string, verifier: string | undefined): boolean =>
  verifier !== undefined && CODE_VERIFIER.test(verifier) && hash('sha256', verifier, 'base64url') === challenge;

/** Exchanges a refresh token (RFC 6749 section 6), which is rotated on each use (RFC 9700 section 4.14.2). */
const exchangeRefreshToken: GrantHandler = async (deps, ctx, { refreshToken: token }) => {
  const { refresh_token: value } = ctx.oidc.params;
  if (value === undefined) throw new InvalidRequest('refresh_token is required');
  const proof = await verifyProof(ctx);
  if (token === undefined) throw new InvalidGrant('refresh token not found');
  checkClient(ctx, token.grant);
  if (token.use === 'reuse') return await refuseReuse(deps, ctx, token.grant);
  checkExpiry(token);
  checkKey(ctx, token.jkt, proof?.thumbprint);
  checkResource(deps, ctx);
  await issueTokens(deps, ctx, {
    presented: { kind: 'refresh_token', digest: digestOpaqueValue(value) },
    grant: token.grant,
    budget: token.budget,
    scope: narrowScope(token.grant.scope, ctx.oidc.params.scope),
    refreshToken: nextRefreshToken(value),
    refreshJkt: token.jkt ?? refreshKey(ctx, proof),
    proof,
  });
};

/** Returns the requested scope. Throws if it is wider than the granted one. */
const narrowScope = (granted: string, requested: string | undefined): string => {
  if (requested === undefined) return granted;
  const allowed = granted.split(' ');
  const names = [...new Set(requested.split(' '))];
  const wider = names.filter((name) => !allowed.includes(name));
  if (wider.length > 0) throw new InvalidScope('wider than the granted scope', wider.join(' '));
  return names.join(' ');
};

/** Responds to the poll of a device (RFC 8628 section 3.4). A pending one writes nothing. */
const redeemDeviceCode: GrantHandler = async (deps, ctx, { deviceCode: code }) => {
  const { device_code: value } = ctx.oidc.params;
  if (ctx.oidc.client['svc_device_flow'] !== true) throw new UnauthorizedClient('the app has no device_flow');
  if (value === undefined) throw new InvalidRequest('device_code is required');
  const proof = await verifyProof(ctx);
  if (code === undefined) throw new InvalidGrant('device code not found');
  checkClient(ctx, code);
  const digest = digestOpaqueValue(value);
  if (code.state === 'redeemed') throw new InvalidGrant('used before');
  if (code.state === 'denied') throw new AccessDenied('the person has denied the request');
  if (code.isExpired) throw new ExpiredToken('the device code has expired');
  if (code.state === 'pending') {
    throw deps.polls.isPaced(digest) ? new AuthorizationPending() : new SlowDown();
  }
  const { grant, budget } = code;
  if (grant === null) throw new InvalidGrant('the grant has ended');
  checkKey(ctx, null, proof?.thumbprint);
  checkResource(deps, ctx);
  await issueTokens(deps, ctx, {
    presented: { kind: 'device_code', digest },
    grant,
    budget,
    scope: grant.scope,
    refreshToken: newRefreshToken(grant.id),
    refreshJkt: refreshKey(ctx, proof),
    proof,
  });
};
