import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** Prefix of every key. No token starts with it. */
export const KEY_PREFIX = 'svc_sk_';
/** 200 bits. The displayed prefix reveals 30 of them. */
const RANDOM_BYTES = 25;
const RANDOM_CHARACTERS = 40;
/** CRC-32 in base32. */
const CHECKSUM_CHARACTERS = 7;
const SHOWN_CHARACTERS = KEY_PREFIX.length + 6;
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const FORM = new RegExp(`^${KEY_PREFIX}[0-9a-hjkmnp-tv-z]{${RANDOM_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

/** Generates an API key: `svc_sk_`, 40 random characters and a checksum of 7. */
export const newKeyText = (random: (bytes: number) => Buffer = randomBytes): string => {
  const body = KEY_PREFIX + base32(random(RANDOM_BYTES));
  return body + checksum(body);
};

/** Checks format and checksum, so that mistyped and foreign keys cost no query. */
export const isKeyText = (text: string): boolean =>
  FORM.test(text) && text.slice(-CHECKSUM_CHARACTERS) === checksum(text.slice(0, -CHECKSUM_CHARACTERS));

/** Returns the start of a key, which is displayed so that its owner can tell keys apart. */
export const shownPrefix = (key: string): string => key.slice(0, SHOWN_CHARACTERS);

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
