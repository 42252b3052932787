import { errors } from 'oidc-provider';
import { ownResources } from './own-resources.ts';
import type { TokenContext, TokenEndpointDeps } from './token-context.ts';

const { InvalidGrant, InvalidTarget } = errors;

/**
 * Throws if the code or token was issued to another client (RFC 6749 section 5.2). Checked first: another client must
 * not end a grant with a used code or token that it has found.
 */
export const checkClient = (ctx: TokenContext, { clientId }: { clientId: string }): void => {
  if (clientId !== ctx.oidc.client.clientId) throw new InvalidGrant('client mismatch');
};

/** Throws if the code or token has expired. */
export const checkExpiry = ({ isExpired }: { isExpired: boolean }): void => {
  if (isExpired) throw new InvalidGrant('expired');
};

/**
 * Throws if the proof uses another key than the code or token is bound to, or is missing although the app requires one.
 */
export const checkKey = (ctx: TokenContext, bound: string | null, proven: string | undefined): void => {
  if (proven === undefined && ctx.oidc.client['dpopBoundAccessTokens'] === true)
    throw new InvalidGrant('DPoP proof missing');
  if (bound !== null && bound !== proven) throw new InvalidGrant('DPoP key mismatch');
};

/** Throws if the request names a resource that is not ours (RFC 8707 section 2). */
export const checkResource = ({ issuer }: TokenEndpointDeps, { oidc }: TokenContext): void => {
  const own = ownResources(issuer);
  const named = [oidc.params.resource ?? []].flat();
  if (named.some((each) => !own.includes(each))) throw new InvalidTarget();
};
