import { commonPasswords } from './common-passwords.ts';

/**
 * Says what is wrong with a new password for this address, or undefined. Its length is checked before; beyond that only what
 * is on a list of common ones is refused, so that nobody has to guess at rules.
 */
export const findPasswordFault = (password: string, email: string): string | undefined => {
  const folded = password.normalize('NFKC').toLowerCase();
  if (commonPasswords.has(folded) || commonPasswords.has(folded.replace(/[!.?]+$/, ''))) {
    return 'this password is one of the most common ones';
  }
  const [localPart = ''] = email.split('@');
  const own = new Set([email, localPart, `${localPart}${localPart}`, [...email].reverse().join('')]);
  if (own.has(folded.trim())) return 'the password must not be the address';
  return undefined;
};
