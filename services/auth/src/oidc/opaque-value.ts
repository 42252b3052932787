import { hash, randomBytes } from 'node:crypto';

const RANDOM_BYTES = 32;
/** Lets scanners recognize a leaked value. */
const PREFIXES = { authorization_code: 'svc_ac_', refresh_token: 'svc_rt_' } as const;

/** Kinds of values of which only the digest is stored. */
export type OpaqueKind = keyof typeof PREFIXES;

/** Returns a value of 256 random bits, or of the given 32 bytes. */
export const newOpaqueValue = (kind: OpaqueKind, bytes: Buffer = randomBytes(RANDOM_BYTES)): string =>
  PREFIXES[kind] + bytes.toString('base64url');

/** Returns the stored digest of a value. */
export const digestOpaqueValue = (value: string): Buffer => hash('sha256', value, 'buffer');
