import { delegatedProvenanceClaimsShape, keyProvenanceClaimsShape } from '../generated/contract.ts';
import { either, type Infer } from '../shape.ts';
import { type SignatureFault, type Signer, verifySignedClaims } from '../signed/verify-signed-claims.ts';
import { canonicalMessages } from './canonical-messages.ts';

/** Claims of a proof; those of the API-key gateway name the provider, the model and the certification. */
export type ProvenanceClaims = Infer<typeof keyProvenanceClaimsShape> | Infer<typeof delegatedProvenanceClaimsShape>;

/** Reason why a proof does not prove a message. `wrong_content`: it is the proof of another one. */
export type ProvenanceFault = SignatureFault | 'wrong_content';

/** A proof does not prove this message. */
export class ProvenanceRejectedError extends Error {
  override readonly name = 'ProvenanceRejectedError';
  readonly fault: ProvenanceFault;

  constructor(fault: ProvenanceFault, options?: ErrorOptions) {
    super(`The proof of provenance was rejected: ${fault}.`, options);
    this.fault = fault;
  }
}

const PROOF = {
  type: 'svc-provenance+jwt',
  shape: either(keyProvenanceClaimsShape, delegatedProvenanceClaimsShape),
} as const;

/**
 * Verifies that a message is exactly what the issuer sent, and returns the claims of its proof. `message` is a chat
 * completion, its assembled message (of the choice with index 0), or a response object; `keys` is the answer of
 * `/v1/provenance/jwks`. Sends no request. Throws `ProvenanceRejectedError`, and `TypeError` for any other message.
 */
export const verifyProvenance = async (message: unknown, jws: string, signer: Signer): Promise<ProvenanceClaims> => {
  const form = new TextEncoder().encode(canonicalMessages(message));
  const verified = await verifySignedClaims<ProvenanceClaims>(jws, signer, PROOF);
  if (!verified.ok) throw new ProvenanceRejectedError(verified.fault);
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', form));
  const contentSha256 = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (contentSha256 !== verified.claims.content_sha256) throw new ProvenanceRejectedError('wrong_content');
  return verified.claims;
};
