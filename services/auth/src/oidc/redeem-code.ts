import { hash } from 'node:crypto';
import { errors } from 'oidc-provider';
import { verifyProof } from './dpop-proof.ts';
import { checkClient, checkExpiry, checkKey, checkResource } from './grant-checks.ts';
import { issueTokens, refreshKey, refuseReuse } from './issue-tokens.ts';
import { digestOpaqueValue } from './opaque-value.ts';
import { newRefreshToken } from './refresh-token.ts';
import type { GrantHandler } from './token-context.ts';

const { InvalidGrant, InvalidRequest } = errors;

/** Redeems an authorization code (RFC 6749 section 4.1.3). */
export const redeemCode: GrantHandler = async (deps, ctx, { code }) => {
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
