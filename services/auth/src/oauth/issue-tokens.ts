import { INFERENCE_BUDGET, type InferenceBudget } from '@svc/contracts';
import { errors } from 'oidc-provider';
import type { BudgetJson, GrantRecord } from '../connections/index.ts';
import { signAccessToken } from './access-token.ts';
import { ACCESS_TOKEN_SECONDS, digestRefreshToken } from './codes-and-tokens.ts';
import { type Proof, useProof } from './dpop-proof.ts';
import type { Presented } from './token-queries.ts';
import { endGrantOfRequest, type TokenContext, type TokenEndpointDeps } from './token-request.ts';

const { InvalidGrant } = errors;

/** A presented code or token, and the tokens that replace it. */
export interface Issue {
  readonly presented: Presented;
  readonly grant: GrantRecord;
  readonly budget: BudgetJson | null;
  readonly scope: string;
  readonly refreshToken: string;
  /** Thumbprint of the key that the new refresh token is bound to. */
  readonly refreshJkt: string | null;
  readonly proof: Proof;
}

/** Commits the exchange and responds with its tokens, or with `invalid_grant` if another request was faster. */
export const issueTokens = async (deps: TokenEndpointDeps, ctx: TokenContext, input: Issue): Promise<void> => {
  const { grant, scope, proof, refreshToken } = input;
  await useProof(deps, ctx, proof);
  const accessToken = await signAccessToken(deps, { grant, scope, keyThumbprint: proof?.thumbprint });
  const digests = digestRefreshToken(refreshToken);
  if (digests === undefined) throw new Error('a refresh token is malformed');
  const outcome = await deps.exchange({
    presented: input.presented,
    refreshToken: digests,
    jkt: input.refreshJkt,
  });
  // Two polls of a device may be under way at once, and the first one's answer holds.
  if (outcome === 'reused' && input.presented.kind === 'device_code') throw new InvalidGrant('used before');
  if (outcome === 'reused') await refuseReuse(deps, ctx, grant);
  if (outcome === 'other_key') throw new InvalidGrant('DPoP key mismatch');
  if (outcome !== 'issued') throw new InvalidGrant('the grant has ended');
  ctx.body = {
    access_token: accessToken,
    expires_in: ACCESS_TOKEN_SECONDS,
    refresh_token: refreshToken,
    scope,
    token_type: proof === undefined ? 'Bearer' : 'DPoP',
    svc_user_id: grant.userId,
    // RFC 9396 section 7.
    ...(input.budget === null ? {} : { authorization_details: [toDetails(deps, input.budget)] }),
  };
};

const toDetails = ({ currency }: TokenEndpointDeps, { expires_at, ...budget }: BudgetJson): InferenceBudget => ({
  type: INFERENCE_BUDGET,
  ...budget,
  currency,
  ...(expires_at === null ? {} : { expires_at: new Date(expires_at).toISOString() }),
});

/**
 * Returns the key that binds a new refresh token: that of the proof, if the client is public. A confidential client
 * authenticates by its secret, so its refresh tokens need no key (RFC 9449 section 5).
 */
export const refreshKey = (ctx: TokenContext, proof: Proof): string | null =>
  ctx.oidc.client.tokenEndpointAuthMethod === 'none' ? (proof?.thumbprint ?? null) : null;

/** Ends the grant of a reused code or refresh token (RFC 6749 section 4.1.2, RFC 9700 section 4.14.2). */
export const refuseReuse = async (deps: TokenEndpointDeps, ctx: TokenContext, grant: GrantRecord): Promise<never> => {
  await endGrantOfRequest(deps, ctx.req, { grantId: grant.id, action: 'token_reused' });
  deps.reuses.inc();
  const fields = { grant_id: grant.id, client_id: ctx.oidc.client.clientId, reason: 'reuse' };
  deps.logger.warn(fields, 'grant ended: a code or refresh token was presented again');
  throw new InvalidGrant('used before');
};
