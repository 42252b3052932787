import { SESSION_SECONDS } from './session.ts';

interface Cookie {
  name: string;
  path: string;
  sameSite: 'Lax' | 'Strict';
}

/** For the authorize pages. `Lax` lets it come along when an app sends the browser there. */
const PAGES: Cookie = { name: 'svc_session', path: '/v1/integrations/oauth', sameSite: 'Lax' };
/** For the console, to resume after a reload. */
const CONSOLE: Cookie = { name: 'svc_console', path: '/v1/console/session', sameSite: 'Strict' };

/**
 * `Set-Cookie` headers that remember a session in a browser. No endpoint that wants a bearer token looks at them, so none of
 * those can be called by another site.
 */
export const sessionCookies = (token: string, publicBaseUrl: string): string[] => [
  pagesCookie(token, publicBaseUrl),
  toHeader(CONSOLE, { value: token, maxAgeSeconds: SESSION_SECONDS, publicBaseUrl }),
];

/** The one of them that the authorize pages read, for those who sign in there. */
export const pagesCookie = (token: string, publicBaseUrl: string): string =>
  toHeader(PAGES, { value: token, maxAgeSeconds: SESSION_SECONDS, publicBaseUrl });

/** `Set-Cookie` headers that forget the session. */
export const clearedSessionCookies = (publicBaseUrl: string): string[] =>
  [PAGES, CONSOLE].map((cookie) => toHeader(cookie, { value: '', maxAgeSeconds: 0, publicBaseUrl }));

/** The token that a `Cookie` header brings to the authorize pages. */
export const readPagesCookie = (header: string | undefined): string | undefined => readCookie(header, PAGES.name);

/** The token that a `Cookie` header brings to the console. */
export const readConsoleCookie = (header: string | undefined): string | undefined => readCookie(header, CONSOLE.name);

/** The value of a cookie, or undefined where it is absent or empty. */
export const readCookie = (header: string | undefined, name: string): string | undefined => {
  for (const pair of header?.split(';') ?? []) {
    const [key = '', value = ''] = pair.trim().split('=', 2);
    if (key === name && value !== '') return value;
  }
  return undefined;
};

const toHeader = (
  { name, path, sameSite }: Cookie,
  options: { value: string; maxAgeSeconds: number; publicBaseUrl: string },
): string => {
  const secure = options.publicBaseUrl.startsWith('https:') ? '; Secure' : '';
  return `${name}=${options.value}; Path=${path}; Max-Age=${options.maxAgeSeconds}; HttpOnly; SameSite=${sameSite}${secure}`;
};
