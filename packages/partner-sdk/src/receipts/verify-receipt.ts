import { z } from 'zod';
import { delegatedReceiptClaimsSchema, keyReceiptClaimsSchema } from '../generated/contract.ts';

/** Claims of a receipt; those of an API-key request name its provider and model. */
export type ReceiptClaims = z.infer<typeof keyReceiptClaimsSchema> | z.infer<typeof delegatedReceiptClaimsSchema>;

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
const headerSchema = z.object({ alg: z.literal('ES256'), typ: z.literal(RECEIPT_TYPE), kid: z.string() });
const keySchema = z.looseObject({ kty: z.literal('EC'), crv: z.literal('P-256'), x: z.string(), y: z.string() });
const claimsSchema = z.union([keyReceiptClaimsSchema, delegatedReceiptClaimsSchema]);

/**
 * Verifies a receipt against the issuer's keys and returns its claims. Makes no request, and runs in browsers and servers. Throws
 * `ReceiptRejectedError`.
 */
export const verifyReceipt = async (
  receipt: string,
  { issuer, keys }: { readonly issuer: string; readonly keys: ReceiptKeySet },
): Promise<ReceiptClaims> => {
  const [head = '', body = '', signature = '', ...rest] = receipt.trim().split('.');
  const header = headerSchema.safeParse(parsePart(head));
  if (!header.success || rest.length > 0) throw new ReceiptRejectedError('malformed');
  const key = keySchema.safeParse(keys.keys.find(({ kid }) => kid === header.data.kid));
  if (!key.success) throw new ReceiptRejectedError('unknown_key');
  const { kty, crv, x, y } = key.data;
  const imported = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDSA, false, ['verify']);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  if (!(await crypto.subtle.verify(ECDSA, imported, decode(signature), signed))) {
    throw new ReceiptRejectedError('wrong_signature');
  }
  const claims = claimsSchema.safeParse(parsePart(body));
  if (!claims.success) throw new ReceiptRejectedError('malformed', { cause: claims.error });
  if (claims.data.iss !== issuer) throw new ReceiptRejectedError('wrong_issuer');
  return claims.data;
};

const parsePart = (part: string): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(decode(part)));
  } catch {
    return undefined;
  }
};

/** Decodes base64url; text that is none becomes empty. */
const decode = (part: string): Uint8Array<ArrayBuffer> => {
  if (!/^[A-Za-z0-9_-]*$/.test(part)) return new Uint8Array();
  const binary = atob(part.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
};
