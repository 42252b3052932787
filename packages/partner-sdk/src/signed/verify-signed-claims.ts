import { decodeBase64, encodeBase64Url } from '../bytes.ts';
import { accepts, object, oneOf, type Shape, text } from '../shape.ts';

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

/** Verifies a compact JWS (RFC 7515) with ES256 whose header has this `typ`. Sends no request. */
export const verifySignedClaims = async <T extends { readonly iss: string }>(
  jws: string,
  { issuer, keys }: Signer,
  { type, shape }: { readonly type: string; readonly shape: Shape<T> },
): Promise<SignedClaims<T>> => {
  const [head = '', body = '', signature = '', ...rest] = jws.trim().split('.');
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
