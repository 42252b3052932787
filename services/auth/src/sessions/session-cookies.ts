import type { IncomingMessage } from 'node:http';
import { SIGNED_IN_COOKIE } from '@svc/contracts';
import { type Cookie, clearCookie, readCookie, setCookie } from '../cookies-and-origins.ts';
import { DEVICE_TOKEN_SECONDS } from './devices.ts';
import { SESSION_SECONDS } from './session.ts';

/** For the authorize pages. With `Lax`, browsers send it when an app leads them there. */
const PAGES: Cookie = { name: 'svc_session', path: '/v1/integrations/oauth', sameSite: 'Lax' };
/** For the console, to resume after a reload. */
const CONSOLE: Cookie = { name: 'svc_console', path: '/v1/console/session', sameSite: 'Strict' };
/** For the page at `/`, which is the overview or the landing page. */
const SIGNED_IN: Cookie = { name: SIGNED_IN_COOKIE, path: '/', sameSite: 'Lax' };
/** For sign-in, on the authorize pages and in the console. */
const DEVICE: Cookie = { name: 'svc_device', path: '/', sameSite: 'Lax' };

interface Tokens {
  readonly token: string;
  readonly deviceToken: string;
}

/**
 * Returns the `Set-Cookie` headers that store a session and its device in a browser. Endpoints for bearer tokens ignore
 * them, so another site cannot call those.
 */
export const sessionCookies = (tokens: Tokens, publicBaseUrl: string): string[] => [
  setCookie(PAGES, { value: tokens.token, maxAgeSeconds: SESSION_SECONDS, publicBaseUrl }),
  setCookie(CONSOLE, { value: tokens.token, maxAgeSeconds: SESSION_SECONDS, publicBaseUrl }),
  setCookie(SIGNED_IN, { value: '1', maxAgeSeconds: SESSION_SECONDS, publicBaseUrl }),
  setCookie(DEVICE, { value: tokens.deviceToken, maxAgeSeconds: DEVICE_TOKEN_SECONDS, publicBaseUrl }),
];

/** Returns the `Set-Cookie` headers that replace the token of a session. */
export const renewedSessionCookies = (token: string, publicBaseUrl: string): string[] =>
  [PAGES, CONSOLE].map((cookie) => setCookie(cookie, { value: token, maxAgeSeconds: SESSION_SECONDS, publicBaseUrl }));

/** Returns the `Set-Cookie` headers that delete the session. The device stays known. */
export const clearedSessionCookies = (publicBaseUrl: string): string[] =>
  [PAGES, CONSOLE, SIGNED_IN].map((cookie) => clearCookie(cookie, publicBaseUrl));

/** Returns the session token of the authorize pages in a `Cookie` header. */
export const readPagesCookie = (header: string | undefined, publicBaseUrl: string): string | undefined =>
  readCookie(PAGES, header, publicBaseUrl);

/** Returns the session token of the console in a `Cookie` header. */
export const readConsoleCookie = (header: string | undefined, publicBaseUrl: string): string | undefined =>
  readCookie(CONSOLE, header, publicBaseUrl);

/** Returns the device token of a request: from the header of API callers, else from the browser's cookie. */
const readDeviceToken = (
  headers: { cookie?: string | undefined; 'x-svc-device'?: string | string[] | undefined },
  publicBaseUrl: string,
): string | undefined => {
  const sent = headers['x-svc-device'];
  return typeof sent === 'string' ? sent : readCookie(DEVICE, headers.cookie, publicBaseUrl);
};

/** Origin of a request that starts a session. */
export interface SignInOrigin {
  /** Network address. */
  readonly source: string;
  /** Device token of the request. */
  readonly deviceToken: string | undefined;
  readonly userAgent: string | undefined;
}

/** About twice the longest that browsers send. */
const USER_AGENT_CHARACTERS_MAX = 512;

/** Returns the origin of a request. */
export const signInOriginOf = (
  { req, clientAddress }: { req: IncomingMessage; clientAddress: string },
  publicBaseUrl: string,
): SignInOrigin => ({
  source: clientAddress,
  deviceToken: readDeviceToken(req.headers, publicBaseUrl),
  userAgent: req.headers['user-agent']?.slice(0, USER_AGENT_CHARACTERS_MAX),
});
