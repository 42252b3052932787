import { z } from 'zod';

/** Prefixes of every identifier that the system makes; each names what it identifies. */
export const idPrefixes = {
  usr: 'a user account (`svc_user_id`)',
  app: 'a registered app (`client_id`)',
  evt: 'a webhook event',
  sub: 'a subscription',
  cs: 'a checkout session',
  key: 'an API key record',
  req: 'a request (`X-Request-Id`)',
  ses: 'a console session',
  grt: 'a grant, made by one consent',
  con: 'a connection of a user and an app',
  aud: 'an entry of an audit trail',
} as const;

/** One of the known identifier prefixes. */
export type IdPrefix = keyof typeof idPrefixes;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_BYTES = 16;
const ID_BODY = '[0-9a-hjkmnp-tv-z]{26}';

let lastTimeMs = 0;
let lastRandom: number[] = [];

/**
 * Makes `<prefix>_` and 26 characters: 48 bits of milliseconds, then 80 random bits, in lower-case Crockford base32.
 * Ids made by one process sort in the order in which they were made.
 */
export const newId = (prefix: IdPrefix, nowMs: number = Date.now()): string => {
  if (nowMs > lastTimeMs) {
    lastTimeMs = nowMs;
    lastRandom = [...crypto.getRandomValues(new Uint8Array(RANDOM_BYTES))].map((byte) => byte & 31);
  } else {
    lastRandom = increment(lastRandom);
  }
  return `${prefix}_${encodeTime(lastTimeMs)}${lastRandom.map((digit) => ALPHABET.charAt(digit)).join('')}`;
};

/** The regular expression of ids with this prefix, anchored. */
export const idPattern = (prefix: IdPrefix): RegExp => new RegExp(`^${prefix}_${ID_BODY}$`);

/** Schema of an id in answers and messages. In request paths any short string is taken: an unknown one is simply not found. */
export const idSchema = (prefix: IdPrefix) =>
  z.string().regex(idPattern(prefix)).meta({ description: idPrefixes[prefix] });

/** Schema of an id in a request path: bounded, otherwise free, as what does not exist is 404 and not 422. */
export const pathIdSchema = z.string().min(1).max(128);

const encodeTime = (timeMs: number): string => {
  let rest = timeMs;
  let text = '';
  for (let index = 0; index < TIME_CHARACTERS; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};

const increment = (digits: readonly number[]): number[] => {
  const next = [...digits];
  for (let index = next.length - 1; index >= 0; index -= 1) {
    const digit = next[index] ?? 0;
    if (digit < 31) {
      next[index] = digit + 1;
      return next;
    }
    next[index] = 0;
  }
  return next;
};
