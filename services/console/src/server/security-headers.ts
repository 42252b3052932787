import type { ServerResponse } from 'node:http';

/**
 * Allows our files and our API only. Icons are `data:` URLs because reading them requires the session's bearer token.
 * With Trusted Types, no text can become a script; the one policy allows workers from this origin's files. `style`
 * attributes are not used: scripts may set single properties instead.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svc-workers',
].join('; ');

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
};
const HSTS = 'max-age=31536000';

/** Sets the headers of every response of the console. */
export const setSecurityHeaders = (res: ServerResponse, isHttps: boolean): void => {
  for (const [name, value] of Object.entries(HEADERS)) res.setHeader(name, value);
  if (isHttps) res.setHeader('Strict-Transport-Security', HSTS);
};
