import { encodeBase64Url } from '../bytes.ts';

const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;

/** A key of Web Crypto. */
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

export interface DpopFetchOptions {
  /**
   * Keys of ECDSA with P-256. Tokens work with these alone, so keep them as long as the tokens: in IndexedDB in a browser,
   * where they need not be extractable. Default: new ones.
   */
  readonly keyPair?: { readonly publicKey: Key; readonly privateKey: Key } | undefined;
  /** A replacement for `fetch`, for example one with a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

/**
 * Creates a `fetch` that proves the possession of a key with each request (DPoP, RFC 9449), for an app registered with
 * `dpop_bound_access_tokens`. Give the same one to `createConnector` and `createSvcClient`.
 */
export const createDpopFetch = async ({
  keyPair,
  fetch: send = (input, init) => fetch(input, init),
}: DpopFetchOptions = {}): Promise<typeof fetch> => {
  const keys = keyPair ?? (await crypto.subtle.generateKey(KEY, false, ['sign', 'verify']));
  const jwk = await publicJwk(keys.publicKey);
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const headers = new Headers(init?.headers ?? request?.headers);
    const token = /^Bearer (.+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    const url = new URL(request?.url ?? String(input));
    const claims = {
      jti: crypto.randomUUID(),
      htm: init?.method ?? request?.method ?? 'GET',
      htu: `${url.origin}${url.pathname}`,
      iat: Math.floor(Date.now() / 1000),
      ...(token === undefined ? {} : { ath: await digestOf(token) }),
    };
    headers.set('dpop', await sign(keys.privateKey, { typ: 'dpop+jwt', alg: 'ES256', jwk }, claims));
    if (token !== undefined) headers.set('authorization', `DPoP ${token}`);
    return await send(input, { ...init, headers });
  };
};

/** Only these members belong to the thumbprint (RFC 7638 section 3.2). */
const publicJwk = async (key: Key): Promise<object> => {
  const { kty, crv, x, y } = await crypto.subtle.exportKey('jwk', key);
  return { kty, crv, x, y };
};

const digestOf = async (text: string): Promise<string> =>
  encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))));

const sign = async (key: Key, header: object, claims: object): Promise<string> => {
  const parts = [header, claims].map((part) => encodeBase64Url(new TextEncoder().encode(JSON.stringify(part))));
  const input = parts.join('.');
  const signature = await crypto.subtle.sign(SIGNATURE, key, new TextEncoder().encode(input));
  return `${input}.${encodeBase64Url(new Uint8Array(signature))}`;
};
