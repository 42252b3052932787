import { createECDH, createPrivateKey, hkdfSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';

/** The algorithm of receipts (RFC 7518 section 3.4). */
export const RECEIPT_ALGORITHM = 'ES256';

const DAY_MS = 24 * 3600 * 1000;
/** The first key takes over here. */
const FIRST_KEY_AT_MS = Date.parse('2026-10-01T00:00:00Z');
const KEY_LIFE_MS = 90 * DAY_MS;
const SECRET_BYTES = 32;
const CURVE = 'prime256v1';

/** A key that signs receipts for a while. */
export interface ReceiptKey {
  readonly kid: string;
  readonly publicJwk: JWK;
  readonly privateKey: KeyObject;
}

/** The keys of receipts. */
export interface ReceiptKeys {
  /** The key that signs now. */
  readonly active: () => Promise<ReceiptKey>;
  /** All keys that have ever signed, and the next one, which verifiers may meet from any moment on. */
  readonly published: () => Promise<readonly JWK[]>;
}

/**
 * Opens the keys of receipts. The key of each 90 days follows from the secret, so that replicas and restored databases agree on
 * all of them, past ones included, without storing any.
 */
export const openReceiptKeys = (secret: string, clock: () => number): ReceiptKeys => {
  const master = Buffer.from(secret, 'base64');
  if (master.length !== SECRET_BYTES) throw new RangeError('the secret of receipt keys must have 32 bytes');
  const made = new Map<number, Promise<ReceiptKey>>();
  const keyOf = (period: number): Promise<ReceiptKey> => {
    const key = made.get(period) ?? makeKey(master, period);
    made.set(period, key);
    return key;
  };
  const current = (): number => Math.max(0, Math.floor((clock() - FIRST_KEY_AT_MS) / KEY_LIFE_MS));
  return {
    active: () => keyOf(current()),
    published: async () => {
      const keys = await Promise.all(Array.from({ length: current() + 2 }, (_, period) => keyOf(period)));
      return keys.map(({ publicJwk }) => publicJwk).reverse();
    },
  };
};

const makeKey = async (master: Buffer, period: number): Promise<ReceiptKey> => {
  // One of four thousand million values is no private key of the curve: then ECDH throws.
  const scalar = Buffer.from(
    hkdfSync('sha256', master, Buffer.alloc(0), `svc-billing:receipts:${period}`, SECRET_BYTES),
  );
  const curve = createECDH(CURVE);
  curve.setPrivateKey(scalar);
  const point = curve.getPublicKey();
  const coordinate = (start: number): string => point.subarray(start, start + SECRET_BYTES).toString('base64url');
  const jwk = { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(1 + SECRET_BYTES) };
  const kid = await calculateJwkThumbprint(jwk);
  return {
    kid,
    publicJwk: { ...jwk, kid, alg: RECEIPT_ALGORITHM, use: 'sig' },
    privateKey: createPrivateKey({ key: { ...jwk, d: scalar.toString('base64url') }, format: 'jwk' }),
  };
};
