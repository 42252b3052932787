import { delegatedReceiptClaimsShape, keyReceiptClaimsShape } from '../generated/contract.ts';
import { either, type Infer } from '../shape.ts';
import { type SignatureFault, type Signer, verifySignedClaims } from '../signed/verify-signed-claims.ts';

/** Claims of a receipt; those of an API-key request name its provider and model. */
export type ReceiptClaims = Infer<typeof keyReceiptClaimsShape> | Infer<typeof delegatedReceiptClaimsShape>;

/** A text is no receipt of this issuer. */
export class ReceiptRejectedError extends Error {
  override readonly name = 'ReceiptRejectedError';
  readonly fault: SignatureFault;

  constructor(fault: SignatureFault, options?: ErrorOptions) {
    super(`The receipt was rejected: ${fault}.`, options);
    this.fault = fault;
  }
}

const RECEIPT = { type: 'svc-receipt+jwt', shape: either(keyReceiptClaimsShape, delegatedReceiptClaimsShape) } as const;

/**
 * Verifies a receipt against the issuer's keys, as `/v1/receipts/jwks` answers them, and returns its claims. Sends no
 * request. Throws `ReceiptRejectedError`.
 */
export const verifyReceipt = async (receipt: string, signer: Signer): Promise<ReceiptClaims> => {
  const verified = await verifySignedClaims<ReceiptClaims>(receipt, signer, RECEIPT);
  if (!verified.ok) throw new ReceiptRejectedError(verified.fault);
  return verified.claims;
};
