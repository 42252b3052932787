import { hash, randomBytes } from 'node:crypto';

const RANDOM_BYTES = 32;
/** Lets scanners recognize a leaked code. */
const CODE_PREFIX = 'svc_ac_';

/** Returns a code of 256 random bits, or of the given 32 bytes. */
export const newCode = (bytes: Buffer = randomBytes(RANDOM_BYTES)): string => CODE_PREFIX + bytes.toString('base64url');

/** Returns the stored digest of a value. */
export const digestOpaqueValue = (value: string): Buffer => hash('sha256', value, 'buffer');
