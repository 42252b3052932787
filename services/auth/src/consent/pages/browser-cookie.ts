import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readCookie } from '../../sessions/index.ts';

/** Tells browsers apart before anybody has signed in, so that a form made for one is not taken from another. */
const NAME = 'svc_browser';
const VALUE_BYTES = 32;
const VALUE = /^[A-Za-z0-9_-]{43}$/;
const MAX_AGE_SECONDS = 24 * 3600;

/** What forms name the browser by: a digest, so that a page does not reveal the cookie. */
export const readBrowserId = (req: IncomingMessage): string | undefined => {
  const value = readCookie(req.headers.cookie, NAME);
  return value !== undefined && VALUE.test(value) ? toId(value) : undefined;
};

/** The same, giving the browser a cookie where it has none. */
export const ensureBrowserId = (req: IncomingMessage, res: ServerResponse, publicBaseUrl: string): string => {
  const known = readBrowserId(req);
  if (known !== undefined) return known;
  const value = randomBytes(VALUE_BYTES).toString('base64url');
  const secure = publicBaseUrl.startsWith('https:') ? '; Secure' : '';
  const attributes = `Path=/v1/integrations/oauth; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
  res.appendHeader('set-cookie', `${NAME}=${value}; ${attributes}`);
  return toId(value);
};

const toId = (value: string): string => hash('sha256', value, 'base64url');
