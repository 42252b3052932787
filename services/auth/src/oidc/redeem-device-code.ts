import { errors } from 'oidc-provider';
import { verifyProof } from './dpop-proof.ts';
import { checkClient, checkKey, checkResource } from './grant-checks.ts';
import { issueTokens, refreshKey } from './issue-tokens.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { newRefreshToken } from './refresh-token.ts';
import type { GrantHandler } from './token-context.ts';

const { AccessDenied, AuthorizationPending, ExpiredToken, InvalidGrant, InvalidRequest, SlowDown, UnauthorizedClient } =
  errors;

/** Responds to the poll of a device (RFC 8628 section 3.4). A pending one writes nothing. */
export const redeemDeviceCode: GrantHandler = async (deps, ctx, { deviceCode: code }) => {
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
