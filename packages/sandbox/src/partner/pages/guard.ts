import type { RequestHandler } from 'express';

/** Returns a policy without inline content, external content and framing. Scripts may call `origins`. */
export const pagePolicy = (origins: readonly string[] = []): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "font-src 'self'",
    "img-src 'self' data:",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

const POLICY = pagePolicy();

/** Sets the security headers of a page. */
export const pageHeaders: RequestHandler = (_request, response, next) => {
  response.set({
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    // Not `no-referrer`, which makes browsers hide the origin of a form post.
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
  });
  next();
};

/**
 * Accepts only requests to this app's address (against DNS rebinding), and forms only from its pages: cookies do not
 * distinguish the ports of a host.
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
