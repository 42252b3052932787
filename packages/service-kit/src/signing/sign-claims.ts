import { sign } from 'node:crypto';
import type { DerivedKey } from './derived-keys.ts';

const COORDINATE_BYTES = 32;

/** Signs claims as a compact JWS (RFC 7515 section 3.1) with ES256. */
export const signClaims = ({ header, privateKey }: DerivedKey, claims: object): string => {
  const signed = `${header}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}`;
  // Node takes twice as long for the format of RFC 7518 as for DER.
  return `${signed}.${toJoseSignature(sign('sha256', Buffer.from(signed), privateKey)).toString('base64url')}`;
};

/** Converts a signature from DER (RFC 3279 section 2.2.3), a sequence of two integers, to RFC 7518 section 3.4. */
const toJoseSignature = (der: Buffer): Buffer => {
  const signature = Buffer.alloc(2 * COORDINATE_BYTES);
  let at = 2;
  for (const end of [COORDINATE_BYTES, 2 * COORDINATE_BYTES]) {
    const length = der[at + 1] ?? 0;
    const integer = der.subarray(at + 2, at + 2 + length);
    // A leading zero marks a positive integer whose first bit is set.
    const bytes = integer.subarray(Math.max(0, length - COORDINATE_BYTES));
    bytes.copy(signature, end - bytes.length);
    at += 2 + length;
  }
  return signature;
};
