import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Cookie, readCookie, setCookie } from '../../cookie.ts';

/** Identifies a browser before sign-in, so that a form made for one is refused from another. */
const BROWSER: Cookie = { name: 'svc_browser', path: '/v1/integrations/oauth', sameSite: 'Lax' };
const VALUE_BYTES = 32;
const VALUE = /^[A-Za-z0-9_-]{43}$/;
const MAX_AGE_SECONDS = 24 * 3600;

/** Returns the browser's id for forms: a digest, so that a page does not reveal the cookie. */
export const readBrowserId = (req: IncomingMessage, publicBaseUrl: string): string | undefined => {
  const value = readCookie(BROWSER, req.headers.cookie, publicBaseUrl);
  return value !== undefined && VALUE.test(value) ? toId(value) : undefined;
};

/** As `readBrowserId`, but sets the cookie if the browser has none. */
export const ensureBrowserId = (req: IncomingMessage, res: ServerResponse, publicBaseUrl: string): string => {
  const known = readBrowserId(req, publicBaseUrl);
  if (known !== undefined) return known;
  const value = randomBytes(VALUE_BYTES).toString('base64url');
  res.appendHeader('set-cookie', setCookie(BROWSER, { value, maxAgeSeconds: MAX_AGE_SECONDS, publicBaseUrl }));
  return toId(value);
};

const toId = (value: string): string => hash('sha256', value, 'base64url');
