import { hash, randomBytes } from 'node:crypto';

/** Codes of one set. */
export const RECOVERY_CODES = 10;

/** No letter that is easily taken for another. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 120 bits, so that a plain digest withstands guessing (NIST SP 800-63B-4 section 3.1.2.2 wants 112). */
const CHARACTERS = 24;
const GROUP = /.{6}(?=.)/g;

/** Returns a random code, in groups that can be typed. */
export const newRecoveryCode = (): string => {
  const characters = [...randomBytes(CHARACTERS)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('');
  return characters.replaceAll(GROUP, '$&-');
};

/** Returns the digest of a code as stored. Case, blanks, dashes and look-alike letters make no difference. */
export const recoveryCodeDigest = (userId: string, code: string): Buffer => {
  const typed = code.toLowerCase().replaceAll(/[\s-]/g, '').replaceAll('o', '0').replaceAll(/[il]/g, '1');
  return hash('sha256', `recovery-code:${userId}:${typed}`, 'buffer');
};
