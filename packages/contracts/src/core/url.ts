import { z } from 'zod';
import { URL_CHARACTERS_MAX } from './limits.ts';

/** Excludes forms on which parsers disagree: a missing slash, a backslash, white space. */
const STRICT_SHAPE = /^https?:\/\/[^\s\\\p{Cc}]+$/iu;
/** Loopback hosts in normalized form. All of 127.0.0.0/8 is loopback (RFC 1122 section 3.2.1.3). */
const LOOPBACK_HOST = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Returns true for URLs that a browser may be sent to: https, or http on a loopback host, without userinfo. */
export const isBrowserReturnUrl = (text: string): boolean => {
  const url = STRICT_SHAPE.test(text) ? URL.parse(text) : null;
  if (url === null || url.username !== '' || url.password !== '') return false;
  if (url.protocol === 'https:') return true;
  return url.protocol === 'http:' && LOOPBACK_HOST.test(url.hostname);
};

/** Return URL of a browser: at most 2048 characters, https, or http on a loopback host. */
export const returnUrlSchema = z
  .string()
  .max(URL_CHARACTERS_MAX)
  .refine(isBrowserReturnUrl, { message: 'must be an https URL, or an http URL on a loopback address' });

const isLink = (text: string): boolean => {
  const url = STRICT_SHAPE.test(text) ? URL.parse(text) : null;
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
};

/** Link shown to users: at most 2048 characters, https, without userinfo. */
export const linkSchema = z
  .string()
  .max(URL_CHARACTERS_MAX)
  .refine(isLink, { message: 'must be an https URL without userinfo' });
