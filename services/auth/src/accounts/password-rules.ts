import { commonPasswords } from './common-passwords.ts';

/** A text made of one part of at most this many characters, over and over, is as weak as the part. */
const REPEATED_PART_CHARACTERS_MAX = 3;

/** Says what is wrong with a new password for this address, or undefined. Its length is checked before. */
export const findPasswordFault = (password: string, email: string): string | undefined => {
  const folded = password.normalize('NFKC').toLowerCase();
  if (commonPasswords.has(folded) || commonPasswords.has(folded.replace(/[!.?]+$/, ''))) {
    return 'this password is one of the most common ones';
  }
  const [localPart = ''] = email.split('@');
  const own = new Set([email, localPart, `${localPart}${localPart}`, [...email].reverse().join('')]);
  if (own.has(folded.trim())) return 'the password must not be the address';
  if (isRepeated(folded) || isSequence(folded)) return 'the password must not be a simple pattern';
  return undefined;
};

const isRepeated = (text: string): boolean => {
  for (let length = 1; length <= REPEATED_PART_CHARACTERS_MAX; length += 1) {
    const part = text.slice(0, length);
    if (part.repeat(Math.ceil(text.length / length)).slice(0, text.length) === text) return true;
  }
  return false;
};

/** Rows of keys and alphabets that fingers and eyes run along. */
const SEQUENCES = [
  '0123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiopasdfghjklzxcvbnm',
  'qwertzuiopasdfghjklyxcvbnm',
];

const isSequence = (text: string): boolean =>
  SEQUENCES.some((sequence) => {
    const endless = sequence.repeat(Math.ceil(text.length / sequence.length) + 1);
    return endless.includes(text) || [...endless].reverse().join('').includes(text);
  });
