import { concatBytes, decodeBase64, encodeBase64 } from '../bytes.ts';
import { STANDARD_WEBHOOK_HEADERS, WEBHOOK_SIGNATURE_HEADER } from '../generated/webhooks.ts';
import { WebhookRejectedError } from './webhook-errors.ts';
import type { WebhookEvent } from './webhook-event.ts';

const HEADER_CHARACTERS_MAX = 1024;
const SIGNATURES_MAX = 8;
const SECRET_PREFIX = 'whsec_';

/**
 * Headers of a delivery: those of Node.js, a `Headers` object, or the value of `X-Svc-Signature` alone.
 */
export type WebhookHeaders =
  | string
  | readonly string[]
  | null
  | undefined
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** Signatures of a delivery, and the means to check them. */
interface Signed {
  /** Signed time, exactly as written, because the signature covers its text. */
  readonly timestamp: string;
  /** Every signature, decoded (32 bytes). Several while a secret is being replaced. */
  readonly signatures: readonly Uint8Array<ArrayBuffer>[];
  /** The signed input is this text and then the body. */
  readonly prefix: string;
  readonly keyOf: (secret: string) => Uint8Array<ArrayBuffer>;
}

/** Reads `X-Svc-Signature`, or else the headers of Standard Webhooks. Throws `WebhookRejectedError`. */
export const readSignatureHeaders = (headers: WebhookHeaders): Signed => {
  const own = readHeader(headers, WEBHOOK_SIGNATURE_HEADER);
  const signature = own === undefined ? readHeader(headers, STANDARD_WEBHOOK_HEADERS.signature) : own;
  if (signature === undefined || signature === '') throw new WebhookRejectedError('signature_missing');
  const signed =
    own === undefined
      ? readStandardSignature({
          id: readHeader(headers, STANDARD_WEBHOOK_HEADERS.id),
          timestamp: readHeader(headers, STANDARD_WEBHOOK_HEADERS.timestamp),
          signature,
        })
      : readOwnSignature(signature);
  if (signed === undefined) throw new WebhookRejectedError('signature_malformed');
  return signed;
};

/** Returns undefined for a missing header. A repeated one is malformed: it comes back joined by a comma. */
const readHeader = (headers: WebhookHeaders, name: string): string | undefined => {
  if (headers === null || headers === undefined) return undefined;
  if (typeof headers === 'string' || Array.isArray(headers)) {
    return name === WEBHOOK_SIGNATURE_HEADER ? String(headers) : undefined;
  }
  const value = 'get' in headers && typeof headers.get === 'function' ? headers.get(name) : pick(headers, name);
  return value === null || value === undefined ? undefined : String(value);
};

const pick = (headers: object, name: string): unknown =>
  Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];

/**
 * Parses `t=<unix seconds>,v1=<hex HMAC-SHA256>`. `v1` may occur several times; other versions are ignored. Returns
 * undefined for anything else: signatures are parsed strictly.
 */
export const readOwnSignature = (header: string): Signed | undefined => {
  if (header.length > HEADER_CHARACTERS_MAX) return undefined;
  const [first = '', ...rest] = header.split(',');
  const timestamp = /^t=(0|[1-9]\d{0,11})$/.exec(first)?.[1];
  if (timestamp === undefined) return undefined;
  const signatures: Uint8Array<ArrayBuffer>[] = [];
  for (const item of rest) {
    const version = /^v([1-9]\d?)=([\x21-\x2b\x2d-\x7e]+)$/.exec(item);
    if (version === null) return undefined;
    if (version[1] !== '1') continue;
    if (!/^v1=[0-9a-f]{64}$/.test(item) || signatures.length === SIGNATURES_MAX) return undefined;
    signatures.push(decodeHex(item.slice(3)));
  }
  if (signatures.length === 0) return undefined;
  return { timestamp, signatures, prefix: `${timestamp}.`, keyOf: (secret) => new TextEncoder().encode(secret) };
};

interface StandardHeaders {
  readonly id: string | undefined;
  readonly timestamp: string | undefined;
  readonly signature: string;
}

/**
 * Parses the headers of Standard Webhooks: `v1,<base64 HMAC-SHA256>`, several separated by spaces. The key is the
 * decoded part of the secret behind its prefix.
 */
export const readStandardSignature = ({ id = '', timestamp = '', signature }: StandardHeaders): Signed | undefined => {
  if (signature.length > HEADER_CHARACTERS_MAX || !/^[\x21-\x7e]{1,255}$/.test(id)) return undefined;
  if (!/^(0|[1-9]\d{0,11})$/.test(timestamp)) return undefined;
  const signatures: Uint8Array<ArrayBuffer>[] = [];
  for (const item of signature.split(' ')) {
    if (!/^v1,[A-Za-z0-9+/]{43}=$/.test(item)) {
      // Another version, such as the asymmetric `v1a`.
      if (/^v\d+[a-z]*,[A-Za-z0-9+/=]+$/.test(item) && !item.startsWith('v1,')) continue;
      return undefined;
    }
    if (signatures.length === SIGNATURES_MAX) return undefined;
    signatures.push(decodeBase64(item.slice(3)) ?? new Uint8Array());
  }
  if (signatures.length === 0) return undefined;
  return { timestamp, signatures, prefix: `${id}.${timestamp}.`, keyOf: standardKeyOf };
};

/** Returns the key of Standard Webhooks: the decoded part of the secret behind its prefix. */
const standardKeyOf = (secret: string): Uint8Array<ArrayBuffer> => {
  const key = decodeBase64(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret);
  if (key === undefined || key.byteLength === 0) throw new TypeError('secret must be `whsec_` and base64');
  return key;
};

const decodeHex = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

const HMAC = { name: 'HMAC', hash: 'SHA-256' } as const;

/** Compares every signature with every secret, even after a match, so that the time reveals nothing. */
export const isSigned = async (body: Uint8Array, signed: Signed, secrets: readonly string[]): Promise<boolean> => {
  const input = concatBytes(new TextEncoder().encode(signed.prefix), body);
  let isFound = false;
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey('raw', signed.keyOf(secret), HMAC, false, ['verify']);
    for (const signature of signed.signatures) {
      // Web Crypto compares in constant time.
      if (await crypto.subtle.verify(HMAC, key, signature, input)) isFound = true;
    }
  }
  return isFound;
};

/** A delivery as the service sends it. */
export interface SignedDelivery {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Signs an event as the service does, in both forms. For tests of a receiver: give it the body and headers as a request.
 * `now` is the signed time.
 */
export const signWebhook = async (
  event: WebhookEvent,
  secret: string,
  { now = new Date() }: { readonly now?: Date | undefined } = {},
): Promise<SignedDelivery> => {
  const body = JSON.stringify(event);
  const seconds = Math.floor(now.getTime() / 1000);
  const own = await hmac(new TextEncoder().encode(secret), `${seconds}.${body}`);
  const standard = await hmac(standardKeyOf(secret), `${event.event_id}.${seconds}.${body}`);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      [WEBHOOK_SIGNATURE_HEADER]: `t=${seconds},v1=${Array.from(own, (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
      [STANDARD_WEBHOOK_HEADERS.id]: event.event_id,
      [STANDARD_WEBHOOK_HEADERS.timestamp]: String(seconds),
      [STANDARD_WEBHOOK_HEADERS.signature]: `v1,${encodeBase64(standard)}`,
    },
  };
};

const hmac = async (key: Uint8Array<ArrayBuffer>, input: string): Promise<Uint8Array> => {
  const imported = await crypto.subtle.importKey('raw', key, HMAC, false, ['sign']);
  return new Uint8Array(await crypto.subtle.sign(HMAC, imported, new TextEncoder().encode(input)));
};
