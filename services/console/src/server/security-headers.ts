import type { ServerResponse } from 'node:http';

/**
 * Nothing but our own files and our own API. Icons come as `data:` because reading them wants the session's bearer token, and Trusted
 * Types leave no way to turn text into script. `style` attributes are not used: scripts set single properties instead, which is allowed.
 */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "manifest-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
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

/** Sets the headers that every answer of the console carries. */
export const setSecurityHeaders = (res: ServerResponse, isHttps: boolean): void => {
  for (const [name, value] of Object.entries(HEADERS)) res.setHeader(name, value);
  if (isHttps) res.setHeader('Strict-Transport-Security', HSTS);
};
