import { hash, randomBytes } from 'node:crypto';

const RANDOM_BYTES = 32;
/** Lets scanners recognise what has leaked. */
const PREFIXES = { authorization_code: 'svc_ac_', refresh_token: 'svc_rt_' } as const;

/** The kinds of value that only their digest is stored of. */
export type OpaqueKind = keyof typeof PREFIXES;

/** Makes a value of 256 random bits, or of these 32 bytes. */
export const newOpaqueValue = (kind: OpaqueKind, bytes: Buffer = randomBytes(RANDOM_BYTES)): string =>
  PREFIXES[kind] + bytes.toString('base64url');

/** Returns the digest under which a value is stored and found. */
export const digestOpaqueValue = (value: string): Buffer => hash('sha256', value, 'buffer');
