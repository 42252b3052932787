import { isIP } from 'node:net';

/** Definition of a cookie. Over https its name gets the prefix `__Host-`, which requires the path `/`. */
export interface Cookie {
  readonly name: string;
  /** Path if the public base URL is not https. */
  readonly path: string;
  readonly sameSite: 'Lax' | 'Strict';
}

const isSecure = (publicBaseUrl: string): boolean => publicBaseUrl.startsWith('https:');

const nameOf = (cookie: Cookie, publicBaseUrl: string): string =>
  isSecure(publicBaseUrl) ? `__Host-${cookie.name}` : cookie.name;

/** Returns the `Set-Cookie` header that stores a value. */
export const setCookie = (
  cookie: Cookie,
  { value, maxAgeSeconds, publicBaseUrl }: { value: string; maxAgeSeconds: number; publicBaseUrl: string },
): string => {
  const [path, secure] = isSecure(publicBaseUrl) ? ['/', '; Secure'] : [cookie.path, ''];
  const attributes = `Path=${path}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=${cookie.sameSite}${secure}`;
  return `${nameOf(cookie, publicBaseUrl)}=${value}; ${attributes}`;
};

/** Returns the `Set-Cookie` header that removes a cookie. */
export const clearCookie = (cookie: Cookie, publicBaseUrl: string): string =>
  setCookie(cookie, { value: '', maxAgeSeconds: 0, publicBaseUrl });

/** Returns the value in a `Cookie` header, or undefined if it is absent or empty. */
export const readCookie = (cookie: Cookie, header: string | undefined, publicBaseUrl: string): string | undefined => {
  const name = nameOf(cookie, publicBaseUrl);
  for (const pair of header?.split(';') ?? []) {
    const [key = '', value = ''] = pair.trim().split('=', 2);
    if (key === name && value !== '') return value;
  }
  return undefined;
};

/**
 * Returns the origins of our pages. Browsers allow no passkeys at IP addresses, so those pages are also served at
 * `localhost`.
 */
export const ownOriginsOf = (publicBaseUrl: string): readonly [string, ...string[]] => {
  const { origin, hostname } = new URL(publicBaseUrl);
  const isAddress = isIP(hostname.replaceAll(/[[\]]/g, '')) !== 0;
  if (!isAddress) return [origin];
  const local = new URL(origin);
  local.hostname = 'localhost';
  return [origin, local.origin];
};

/**
 * Returns true if a request with this `Origin` header may come from our pages. A request without one does not come from
 * a page of another origin.
 */
export const isOwnOrigin = (origin: string | undefined, publicBaseUrl: string): boolean =>
  origin === undefined || ownOriginsOf(publicBaseUrl).includes(origin);
