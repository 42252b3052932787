import { errors } from 'oidc-provider';
// The library's module for custom grant types. It may change in any release: `dpop-proof.test.ts` fails on an upgrade.
import { validateDpop } from 'oidc-provider/lib/helpers/grants.js';
import { later, SECOND_MS } from '../time.ts';
import { digestOpaqueValue } from './codes-and-tokens.ts';
import { insertProof } from './pushed-requests.ts';
import type { TokenContext, TokenEndpointDeps } from './token-request.ts';

/** The library accepts proofs made up to five minutes before or after its clock. */
const PROOF_SECONDS = 300;

/** A verified proof of possession; undefined if the request has none. */
export type Proof = Awaited<ReturnType<typeof validateDpop>>;

/** Verifies the proof of a token request (RFC 9449 section 4.3). Throws `invalid_dpop_proof`. */
export const verifyProof = (ctx: TokenContext): Promise<Proof> => validateDpop(ctx.oidc.provider, ctx);

/** Records the use of a proof. Throws if it was used before, on any replica (RFC 9449 section 11.1). */
export const useProof = async (deps: TokenEndpointDeps, ctx: TokenContext, proof: Proof): Promise<void> => {
  if (proof === undefined) return;
  const digest = digestOpaqueValue(`${ctx.oidc.client.clientId} ${proof.jti}`);
  const expiresAt = later(deps.clock(), 2 * PROOF_SECONDS * SECOND_MS);
  if (!(await insertProof(deps.database, { digest, expiresAt }))) {
    throw new errors.InvalidDpopProof('DPoP proof used before');
  }
};
