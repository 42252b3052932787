import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** 200 bits. The displayed prefix reveals 30 of them. */
const RANDOM_BYTES = 25;
const RANDOM_CHARACTERS = 40;
/** CRC-32 in base32. */
const CHECKSUM_CHARACTERS = 7;
const SHOWN_RANDOM_CHARACTERS = 6;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';

/** Text of the keys of one kind. */
export interface KeyText {
  /** Begins every key of the kind, and no token. */
  readonly prefix: string;
  /** Generates a key: the prefix, 40 random characters and a checksum of 7. */
  readonly generate: (random?: (bytes: number) => Buffer) => string;
  /** Checks format and checksum, so that mistyped and foreign keys cost no query. */
  readonly isWellFormed: (text: string) => boolean;
  /** Returns the start of a key, which is displayed so that its owner can tell keys apart. */
  readonly shown: (key: string) => string;
}

export const createKeyText = (prefix: string): KeyText => {
  const form = new RegExp(`^${prefix}[0-9a-hjkmnp-tv-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);
  return {
    prefix,
    generate: (random = randomBytes) => {
      const body = prefix + base32(random(RANDOM_BYTES));
      return body + checksum(body);
    },
    isWellFormed: (text) =>
      form.test(text) && text.slice(-CHECKSUM_CHARACTERS) === checksum(text.slice(0, -CHECKSUM_CHARACTERS)),
    shown: (key) => key.slice(0, prefix.length + SHOWN_RANDOM_CHARACTERS),
  };
};

const base32 = (bytes: Buffer): string => {
  let text = '';
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    for (; bits >= 5; bits -= 5) {
      text += ALPHABET.charAt((value >> (bits - 5)) & 31);
      value &= (1 << (bits - 5)) - 1;
    }
  }
  return text;
};

const checksum = (body: string): string => {
  let rest = crc32(body);
  let text = '';
  for (let index = 0; index < CHECKSUM_CHARACTERS; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};
