import { createECDH, createHash, createPrivateKey, type KeyObject, sign } from 'node:crypto';

const DAY_MS = 24 * 3600 * 1000;
/** Start of the first key's period. */
const FIRST_KEY_AT_MS = Date.parse('2026-10-01T00:00:00Z');
const KEY_LIFE_MS = 90 * DAY_MS;
const COORDINATE_BYTES = 32;
const CURVE = 'prime256v1';

/** Public half of a key, as a key set lists it (RFC 7517). */
export interface PublicSigningKey {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly kid: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
}

/** Key that signs for one period. */
interface DerivedKey {
  readonly publicKey: PublicSigningKey;
  /** Header of what it signs, in base64url (RFC 7515 section 4). */
  readonly header: string;
  readonly privateKey: KeyObject;
}

export interface DerivedKeys {
  /** Returns the key of the current period, derived from the first secret. */
  readonly active: () => DerivedKey;
  /**
   * Returns the keys of every secret and of all periods up to the next one, so that verifiers know the next key before its first
   * use, then those of secrets that are no longer listed.
   */
  readonly published: () => Promise<readonly PublicSigningKey[]>;
  /** Returns the keys of every secret but the first, which operators may remove. */
  readonly retiring: () => readonly PublicSigningKey[];
}

/** A secret from which keys are derived. */
interface DerivingSecret {
  /** Derives 32 bytes for one purpose. */
  readonly derive: (purpose: string) => Buffer;
}

interface DerivedKeysOptions {
  /** The first one signs, the keys of all are published. */
  readonly secrets: readonly [DerivingSecret, ...DerivingSecret[]];
  /** Lists the published keys of former secrets. */
  readonly listFormer: () => Promise<readonly PublicSigningKey[]>;
  /** Name of what the keys sign, such as `receipts`. Another purpose gives other keys. */
  readonly purpose: string;
  /** `typ` of what the keys sign. */
  readonly typ: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/**
 * Opens keys for ES256 (RFC 7518 section 3.4). The key of each 90-day period is derived from a secret, so replicas and
 * restored databases agree on all keys, including past ones, without storing any (docs/adr/0015).
 */
export const openDerivedKeys = ({ secrets, listFormer, purpose, typ, clock }: DerivedKeysOptions): DerivedKeys => {
  const [first, ...others] = secrets.map((secret) => {
    const made = new Map<number, DerivedKey>();
    return (period: number): DerivedKey => {
      const key = made.get(period) ?? deriveKey(secret.derive(`${purpose}:${period}`), typ);
      made.set(period, key);
      return key;
    };
  });
  if (first === undefined) throw new RangeError('signing keys need a secret');
  const current = (): number => Math.max(0, Math.floor((clock() - FIRST_KEY_AT_MS) / KEY_LIFE_MS));
  const publicKeysOf = (keyOf: (period: number) => DerivedKey): PublicSigningKey[] =>
    Array.from({ length: current() + 2 }, (_, period) => keyOf(period).publicKey).reverse();
  return {
    active: () => first(current()),
    retiring: () => others.flatMap(publicKeysOf),
    published: async () => {
      const derived = [first, ...others].flatMap(publicKeysOf);
      const kids = new Set(derived.map(({ kid }) => kid));
      return [...derived, ...(await listFormer()).filter(({ kid }) => !kids.has(kid))];
    },
  };
};

const deriveKey = (scalar: Buffer, typ: string): DerivedKey => {
  // About one in 2^32 values is no valid private key of the curve. ECDH throws for it.
  const curve = createECDH(CURVE);
  curve.setPrivateKey(scalar);
  const point = curve.getPublicKey();
  const coordinate = (start: number): string => point.subarray(start, start + COORDINATE_BYTES).toString('base64url');
  const jwk = { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(1 + COORDINATE_BYTES) } as const;
  const kid = thumbprint(jwk);
  return {
    publicKey: { ...jwk, kid, alg: 'ES256', use: 'sig' },
    header: Buffer.from(JSON.stringify({ alg: 'ES256', typ, kid })).toString('base64url'),
    privateKey: createPrivateKey({ key: { ...jwk, d: scalar.toString('base64url') }, format: 'jwk' }),
  };
};

/** RFC 7638 section 3.2: the required members in this order. */
const thumbprint = ({ crv, kty, x, y }: Pick<PublicSigningKey, 'crv' | 'kty' | 'x' | 'y'>): string =>
  createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');

/** Short enough, because each key is published 90 days before its first use. */
const CACHE_SECONDS = 3_600;

/** Reply with a public key set (RFC 7517 section 5). */
interface KeySetReply {
  readonly status: 200;
  readonly body: { keys: PublicSigningKey[] };
  readonly headers: Readonly<Record<string, string>>;
}

/** Replies with the published keys. Anyone may cache them. */
export const keySetReply = async (keys: DerivedKeys): Promise<KeySetReply> => ({
  status: 200,
  body: { keys: [...(await keys.published())] },
  headers: { 'cache-control': `public, max-age=${CACHE_SECONDS}` },
});

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
