import { decodeBase64 } from '../bytes.ts';
import { delegatedReceiptClaimsShape, keyReceiptClaimsShape } from '../generated/contract.ts';
import { accepts, either, type Infer, object, oneOf, text } from '../shape.ts';

/** Claims of a receipt; those of an API-key request name its provider and model. */
export type ReceiptClaims = Infer<typeof keyReceiptClaimsShape> | Infer<typeof delegatedReceiptClaimsShape>;

/** Public keys of receipts, as `/v1/receipts/jwks` answers them. Keep them: they verify receipts offline. */
export interface ReceiptKeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** Reason why a text is no receipt of this issuer. */
export type ReceiptFault = 'malformed' | 'unknown_key' | 'wrong_signature' | 'wrong_issuer';

/** A text is no receipt of this issuer. */
export class ReceiptRejectedError extends Error {
  override readonly name = 'ReceiptRejectedError';
  readonly fault: ReceiptFault;

  constructor(fault: ReceiptFault, options?: ErrorOptions) {
    super(`The receipt was rejected: ${fault}.`, options);
    this.fault = fault;
  }
}

const RECEIPT_TYPE = 'svc-receipt+jwt';
const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const headerShape = object({ alg: oneOf('ES256'), typ: oneOf(RECEIPT_TYPE), kid: text() });
const keyShape = object({ kty: oneOf('EC'), crv: oneOf('P-256'), x: text(), y: text() });
const claimsShape = either(keyReceiptClaimsShape, delegatedReceiptClaimsShape);

/**
 * Verifies a receipt against the issuer's keys and returns its claims. Sends no request. Throws `ReceiptRejectedError`.
 */
export const verifyReceipt = async (
  receipt: string,
  { issuer, keys }: { readonly issuer: string; readonly keys: ReceiptKeySet },
): Promise<ReceiptClaims> => {
  const [head = '', body = '', signature = '', ...rest] = receipt.trim().split('.');
  const header = parsePart(head);
  if (!accepts(headerShape, header) || rest.length > 0) throw new ReceiptRejectedError('malformed');
  const key = keys.keys.find(({ kid }) => kid === header.kid);
  if (!accepts(keyShape, key)) throw new ReceiptRejectedError('unknown_key');
  const { kty, crv, x, y } = key;
  const imported = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDSA, false, ['verify']);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await crypto.subtle.verify(ECDSA, imported, decode(signature), signed))) {
    throw new ReceiptRejectedError('wrong_signature');
  }
  const claims = parsePart(body);
  if (!accepts(claimsShape, claims)) throw new ReceiptRejectedError('malformed');
  if (claims.iss !== issuer) throw new ReceiptRejectedError('wrong_issuer');
  return claims;
};

const parsePart = (part: string): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(decode(part)));
  } catch {
    return undefined;
  }
};

/** Decodes base64url; text that is none becomes empty. */
const decode = (part: string): Uint8Array<ArrayBuffer> => decodeBase64(part) ?? new Uint8Array();
