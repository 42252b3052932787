import { createECDH, createPrivateKey, hkdfSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, type JWK } from 'jose';

/** Signature algorithm of receipts (RFC 7518 section 3.4). */
export const RECEIPT_ALGORITHM = 'ES256';

const DAY_MS = 24 * 3600 * 1000;
/** Start of the first key's period. */
const FIRST_KEY_AT_MS = Date.parse('2026-10-01T00:00:00Z');
const KEY_LIFE_MS = 90 * DAY_MS;
const SECRET_BYTES = 32;
const CURVE = 'prime256v1';

/** Key that signs the receipts of one period. */
export interface ReceiptKey {
  readonly kid: string;
  readonly publicJwk: JWK;
  readonly privateKey: KeyObject;
}

export interface ReceiptKeys {
  /** Returns the key of the current period. */
  readonly active: () => Promise<ReceiptKey>;
  /** Returns the keys of all periods up to the next one, so that verifiers know the next key before its first use. */
  readonly published: () => Promise<readonly JWK[]>;
}

/**
 * Opens the receipt keys. The key of each 90-day period is derived from the secret, so replicas and restored databases
 * agree on all keys, including past ones, without storing any.
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
  // About one in 2^32 values is no valid private key of the curve. ECDH throws for it.
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
