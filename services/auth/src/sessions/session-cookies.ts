import { type Cookie, clearCookie, readCookie, setCookie } from '../cookie.ts';
import { DEVICE_TOKEN_SECONDS } from './devices.ts';
import { SESSION_SECONDS } from './session.ts';

/** For the authorize pages. `Lax` sends it along when an app leads the browser there. */
const PAGES: Cookie = { name: 'svc_session', path: '/v1/integrations/oauth', sameSite: 'Lax' };
/** For the console, to resume after a reload. */
const CONSOLE: Cookie = { name: 'svc_console', path: '/v1/console/session', sameSite: 'Strict' };
/** For sign-in, on the authorize pages and in the console. */
const DEVICE: Cookie = { name: 'svc_device', path: '/', sameSite: 'Lax' };

interface Tokens {
  readonly token: string;
  readonly deviceToken: string;
}

/**
 * Returns the `Set-Cookie` headers that remember a session and its device in a browser. No endpoint that takes a bearer
 * token reads them, so another site can call none of those.
 */
export const sessionCookies = (tokens: Tokens, publicBaseUrl: string): string[] => [
  setCookie(PAGES, { value: tokens.token, maxAgeSeconds: SESSION_SECONDS, publicBaseUrl }),
  setCookie(CONSOLE, { value: tokens.token, maxAgeSeconds: SESSION_SECONDS, publicBaseUrl }),
  setCookie(DEVICE, { value: tokens.deviceToken, maxAgeSeconds: DEVICE_TOKEN_SECONDS, publicBaseUrl }),
];

/** Returns the `Set-Cookie` headers that replace the token of a session. */
export const renewedSessionCookies = (token: string, publicBaseUrl: string): string[] =>
  [PAGES, CONSOLE].map((cookie) => setCookie(cookie, { value: token, maxAgeSeconds: SESSION_SECONDS, publicBaseUrl }));

/** Returns those that the authorize pages read. */
export const pagesCookies = (tokens: Tokens, publicBaseUrl: string): string[] => [
  setCookie(PAGES, { value: tokens.token, maxAgeSeconds: SESSION_SECONDS, publicBaseUrl }),
  setCookie(DEVICE, { value: tokens.deviceToken, maxAgeSeconds: DEVICE_TOKEN_SECONDS, publicBaseUrl }),
];

/** Returns the `Set-Cookie` headers that forget the session. The device stays known. */
export const clearedSessionCookies = (publicBaseUrl: string): string[] =>
  [PAGES, CONSOLE].map((cookie) => clearCookie(cookie, publicBaseUrl));

/** Returns the session token that a `Cookie` header brings to the authorize pages. */
export const readPagesCookie = (header: string | undefined, publicBaseUrl: string): string | undefined =>
  readCookie(PAGES, header, publicBaseUrl);

/** Returns the session token that a `Cookie` header brings to the console. */
export const readConsoleCookie = (header: string | undefined, publicBaseUrl: string): string | undefined =>
  readCookie(CONSOLE, header, publicBaseUrl);

/** Returns the device token of a request: the header that API callers send, else the cookie of a browser. */
export const readDeviceToken = (
  headers: { cookie?: string | undefined; 'x-svc-device'?: string | string[] | undefined },
  publicBaseUrl: string,
): string | undefined => {
  const sent = headers['x-svc-device'];
  return typeof sent === 'string' ? sent : readCookie(DEVICE, headers.cookie, publicBaseUrl);
};
