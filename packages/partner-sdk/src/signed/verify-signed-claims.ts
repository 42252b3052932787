import { decodeBase64, encodeBase64Url } from '../bytes.ts';
import {
  delegatedProvenanceClaimsShape,
  delegatedReceiptClaimsShape,
  keyProvenanceClaimsShape,
  keyReceiptClaimsShape,
} from '../generated/contract.ts';
import { accepts, either, type Infer, object, oneOf, type Shape, text } from '../shape.ts';
import { canonicalMessages } from './canonical-messages.ts';

/** Public keys of an issuer, as it publishes them. Keep them: they verify offline. */
export interface PublicKeySet {
  readonly keys: readonly Readonly<Record<string, unknown>>[];
}

/** The issuer that must have signed, and its keys. */
export interface Signer {
  readonly issuer: string;
  readonly keys: PublicKeySet;
}

/** Reason why a text has no claims of this issuer. */
export type SignatureFault = 'malformed' | 'unknown_key' | 'wrong_signature' | 'wrong_issuer';

/** Claims, or the reason why there are none. */
export type SignedClaims<T> =
  | { readonly ok: true; readonly claims: T }
  | { readonly ok: false; readonly fault: SignatureFault };

const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const keyShape = object({ kty: oneOf('EC'), crv: oneOf('P-256'), x: text(), y: text() });

/** Verifies a compact JWS (RFC 7515) with ES256 whose header has this `typ`. Sends no request. An absent one is malformed. */
const verifySignedClaims = async <T extends { readonly iss: string }>(
  jws: unknown,
  { issuer, keys }: Signer,
  { type, shape }: { readonly type: string; readonly shape: Shape<T> },
): Promise<SignedClaims<T>> => {
  const [head = '', body = '', signature = '', ...rest] = typeof jws === 'string' ? jws.trim().split('.') : [];
  const header = parsePart(head);
  const headerShape = object({ alg: oneOf('ES256'), typ: oneOf(type), kid: text() });
  if (!accepts(headerShape, header) || rest.length > 0) return { ok: false, fault: 'malformed' };
  const key = keys.keys.find(({ kid }) => kid === header.kid);
  if (!accepts(keyShape, key)) return { ok: false, fault: 'unknown_key' };
  const { kty, crv, x, y } = key;
  const imported = await crypto.subtle.importKey('jwk', { kty, crv, x, y }, ECDSA, false, ['verify']);
  const signed = new TextEncoder().encode(`${head}.${body}`);
  const signatureBytes = decode(signature);
  // Base64url has several texts for these bytes, of which RFC 7515 allows one.
  const isCanonical = encodeBase64Url(signatureBytes) === signature;
  if (!isCanonical || !(await crypto.subtle.verify(ECDSA, imported, signatureBytes, signed))) {
    return { ok: false, fault: 'wrong_signature' };
  }
  const claims = parsePart(body);
  if (!accepts(shape, claims)) return { ok: false, fault: 'malformed' };
  return claims.iss === issuer ? { ok: true, claims } : { ok: false, fault: 'wrong_issuer' };
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
