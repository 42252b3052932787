import { errors } from 'oidc-provider';
import { verifyProof } from './dpop-proof.ts';
import { checkClient, checkExpiry, checkKey, checkResource } from './grant-checks.ts';
import { issueTokens, refreshKey, refuseReuse } from './issue-tokens.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { nextRefreshToken } from './refresh-token.ts';
import type { GrantHandler } from './token-context.ts';

const { InvalidGrant, InvalidRequest, InvalidScope } = errors;

/** Exchanges a refresh token (RFC 6749 section 6), which is rotated on each use (RFC 9700 section 4.14.2). */
export const exchangeRefreshToken: GrantHandler = async (deps, ctx, { refreshToken: token }) => {
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
