import type { RequestHandler } from 'express';

/** Nothing inline, nothing from elsewhere, in nobody's frame. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Sends the headers that keep a page to itself. */
export const pageHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    // Not `no-referrer`: with that, browsers hide the origin of a form that was sent.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  next();
};

/**
 * Lets in only requests to this app's own address, so that no other name can be pointed at it (DNS rebinding), and forms only
 * from its own pages: a cookie alone does not tell ports of one host apart.
 */
export const ownOriginOnly =
  (origin: string): RequestHandler =>
  (request, response, next) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (request.headers.host !== new URL(origin).host) {
      if (isRead) response.redirect(308, `${origin}${request.originalUrl.replace(/^\/+/, '/')}`);
      else response.status(421).end();
      return;
    }
    const from = request.headers.origin;
    if (!isRead && from !== undefined && from !== origin) response.status(403).end();
    else next();
  };
