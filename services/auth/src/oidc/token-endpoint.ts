import { DEVICE_GRANT_TYPE, isClientId, isMetadataUrl } from '@svc/contracts';
import { errors, Provider } from 'oidc-provider';
import { verifyProof } from './dpop-proof.ts';
import { clientAddressOf } from './end-grant-of-request.ts';
import { exchangeRefreshToken } from './exchange-refresh-token.ts';
import { checkClient, checkKey, checkResource } from './grant-checks.ts';
import { issueTokens, refreshKey } from './issue-tokens.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { redeemCode } from './redeem-code.ts';
import { digestRefreshToken, newRefreshToken } from './refresh-token.ts';
import type { GrantHandler, TokenContext, TokenEndpoint, TokenEndpointDeps } from './token-context.ts';
import type { TokenQuestion, TokenState } from './token-state.ts';

const { AccessDenied, AuthorizationPending, ExpiredToken, InvalidGrant, InvalidRequest, SlowDown, UnauthorizedClient } =
  errors;

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

// A token request, in the order of its steps. The library parses the form, authenticates the client and renders errors.
// 1. The library asks for the client: `findClient` reads client, code or token, and grant in one round trip.
// 2. The library authenticates the client and calls the handler of the grant type, one file each.
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
