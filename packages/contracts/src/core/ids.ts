import { z } from 'zod';

/** Prefixes of all identifiers, with the description of each. */
export const idPrefixes = {
  usr: 'a user account (`svc_user_id`)',
  app: 'a registered app (`client_id`)',
  evt: 'a webhook event',
  sub: 'a subscription',
  cs: 'a checkout session',
  key: 'an API key record',
  mk: 'a management key record',
  req: 'a request (`X-Request-Id`)',
  ses: 'a console session',
  grt: 'a grant, made by one consent',
  con: 'a connection of a user and an app',
  aud: 'an entry of an audit trail or log',
  mail: 'a mail',
  inv: 'an invoice of the sandbox',
  fac: 'a second factor',
  mem: 'a membership in an organization',
  ivt: 'an invitation to an organization',
} as const;

export type IdPrefix = keyof typeof idPrefixes;

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const RANDOM_DIGITS = 16;
/** Random bytes are drawn in bulk: one call per id would cost more than the id itself. */
const POOL_BYTES = 4_096;
/** Indexed by character code. */
const IN_ALPHABET = new Uint8Array(128);
for (const character of ALPHABET) IN_ALPHABET[character.charCodeAt(0)] = 1;
/** 26 characters of five bits hold two bits more than an id has. */
const FIRST_CHARACTER_MAX = '7';
const ID_BODY = `[0-${FIRST_CHARACTER_MAX}][0-9a-hjkmnp-tv-z]{25}`;

const pool = new Uint8Array(POOL_BYTES);
let poolUsed = POOL_BYTES;
let lastTimeMs = 0;
let lastTime = '';
const lastRandom = new Uint8Array(RANDOM_DIGITS);

/**
 * Returns `<prefix>_` and 26 characters: 48 bits of milliseconds, then 80 random bits, in lower-case Crockford base32.
 * Ids made by one process sort by creation.
 */
export const newId = (prefix: IdPrefix, nowMs: number = Date.now()): string => {
  if (nowMs > lastTimeMs) {
    lastTimeMs = nowMs;
    lastTime = encodeTime(nowMs);
    drawRandom();
  } else {
    increment();
  }
  let text = `${prefix}_${lastTime}`;
  for (const digit of lastRandom) text += ALPHABET.charAt(digit);
  return text;
};

/** Returns the id of a moment and at least 16 bytes, of each of which it takes 5 bits: the same for the same input. */
export const idOf = (prefix: IdPrefix, timeMs: number, bytes: Uint8Array): string => {
  let text = `${prefix}_${encodeTime(timeMs)}`;
  for (let index = 0; index < RANDOM_DIGITS; index += 1) text += ALPHABET.charAt((bytes[index] ?? 0) & 31);
  return text;
};

/** Returns the anchored pattern of ids with this prefix. */
export const idPattern = (prefix: IdPrefix): RegExp => new RegExp(`^${prefix}_${ID_BODY}$`);

/** Returns the schema of an id in responses and messages. */
export const idSchema = (prefix: IdPrefix) =>
  z.string().regex(idPattern(prefix)).meta({ description: idPrefixes[prefix] });

/** Schema of an id in a request path. Accepts any short text, because an unknown id is a 404, not a 422. */
export const pathIdSchema = z.string().min(1).max(128);

/** Tests a value like `idPattern`, at a fraction of the cost. */
export const isId = (prefix: IdPrefix, text: unknown): text is string => {
  if (typeof text !== 'string' || !text.startsWith(prefix)) return false;
  const start = prefix.length + 1;
  if (text.length !== start + TIME_CHARACTERS + RANDOM_DIGITS || text.charAt(prefix.length) !== '_') return false;
  if (text.charAt(start) > FIRST_CHARACTER_MAX) return false;
  for (let index = start; index < text.length; index += 1) {
    if (IN_ALPHABET[text.charCodeAt(index)] !== 1) return false;
  }
  return true;
};

/** Returns the characters of an id that encode its time, which sort by time. */
export const idTimeOf = (id: string): string => {
  const start = id.indexOf('_') + 1;
  return id.slice(start, start + TIME_CHARACTERS);
};

/** Returns what `idTimeOf` returns for an id made at this time. */
export const idTimeAt = (timeMs: number): string => encodeTime(timeMs);

const encodeTime = (timeMs: number): string => {
  let rest = timeMs;
  let text = '';
  for (let index = 0; index < TIME_CHARACTERS; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
};

/** Takes random bytes from the pool and wipes them from it, because some ids must stay hard to guess. */
const drawRandom = (): void => {
  if (poolUsed === POOL_BYTES) {
    crypto.getRandomValues(pool);
    poolUsed = 0;
  }
  for (let index = 0; index < RANDOM_DIGITS; index += 1) lastRandom[index] = (pool[poolUsed + index] ?? 0) & 31;
  pool.fill(0, poolUsed, poolUsed + RANDOM_DIGITS);
  poolUsed += RANDOM_DIGITS;
};

const increment = (): void => {
  for (let index = RANDOM_DIGITS - 1; index >= 0; index -= 1) {
    const digit = lastRandom[index] ?? 0;
    lastRandom[index] = (digit + 1) & 31;
    if (digit < 31) return;
  }
};

/** Longest client id: that of a metadata document. */
export const CLIENT_ID_CHARACTERS_MAX = 512;

const APP_ID = idPattern('app');

/**
 * Returns true for the address of a client ID metadata document: an `https` URL in its normal form, with a path, and
 * without fragment, userinfo or dot segments. No business registered such a client.
 */
export const isMetadataUrl = (clientId: string): boolean => {
  if (!clientId.startsWith('https://') || clientId.length > CLIENT_ID_CHARACTERS_MAX) return false;
  const url = URL.parse(clientId);
  if (url === null || url.href !== clientId || url.pathname === '/') return false;
  return (
    url.username === '' && url.password === '' && !clientId.includes('#') && !clientId.includes('@', 'https://'.length)
  );
};

/** Returns true for the id of a registered app, and for the address of a metadata document. */
export const isClientId = (text: string): boolean => APP_ID.test(text) || isMetadataUrl(text);

/** Schema of a client id in responses and messages. */
export const clientIdSchema = z
  .string()
  .max(CLIENT_ID_CHARACTERS_MAX)
  .refine(isClientId)
  .meta({ description: `${idPrefixes.app}, or the URL of a client ID metadata document` });

/** Schema of a client id in a request path, percent-encoded. Accepts any text: an unknown id is a 404, not a 422. */
export const pathClientIdSchema = z.string().min(1).max(CLIENT_ID_CHARACTERS_MAX);
