import { hash, randomBytes } from 'node:crypto';

/** Codes of one set. */
export const RECOVERY_CODES = 10;

/** Excludes letters that are easily confused. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 120 bits, so that a plain digest withstands guessing (NIST SP 800-63B-4 section 3.1.2.2 requires 112). */
const CHARACTERS = 24;
const GROUP = /.{6}(?=.)/g;

/** Returns a random code in groups that are easy to type. */
export const newRecoveryCode = (): string => {
  const characters = [...randomBytes(CHARACTERS)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return characters.replaceAll(GROUP, '$&-');
};

/** Returns the stored digest of a code. Ignores case, spaces, dashes and look-alike letters. */
export const recoveryCodeDigest = (userId: string, code: string): Buffer => {
  const typed = code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return hash('sha256', `recovery-code:${userId}:${typed}`, 'buffer');
};
