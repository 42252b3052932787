import { SealBroken, type Sealer } from '@svc/secrets';
import type { Clock } from '@svc/service-kit';
import { z } from 'zod';
import { type Cookie, clearCookie, readCookie, setCookie } from '../cookie.ts';
import { later, SECOND_MS } from '../time.ts';

/** A cookie with content that its browser keeps but cannot read or change. */
export interface SealedCookie<T> {
  /** Returns the `Set-Cookie` header that stores the content. */
  readonly make: (content: T) => string;
  /** Returns the `Set-Cookie` header that deletes it. */
  readonly clear: () => string;
  /** Returns the content in a `Cookie` header; undefined if it is missing, invalid or expired. */
  readonly read: (header: string | undefined) => T | undefined;
}

export interface SealedCookieOptions<T> {
  readonly cookie: Cookie;
  readonly schema: z.ZodType<T>;
  readonly lifeMs: number;
  readonly sealer: Sealer;
  readonly clock: Clock;
  readonly publicBaseUrl: string;
}

/** Creates a cookie whose name is also the context of its seal, so that no value moves to another cookie. */
export const createSealedCookie = <T>(options: SealedCookieOptions<T>): SealedCookie<T> => {
  const { cookie, schema, lifeMs, sealer, clock, publicBaseUrl } = options;
  const envelope = z.object({ content: schema, expires: z.number() });
  const open = (value: string) => {
    try {
      return envelope.parse(JSON.parse(sealer.unseal(Buffer.from(value, 'base64url'), cookie.name).toString()));
    } catch (error) {
      if (error instanceof SealBroken) return undefined;
      throw error;
    }
  };
  return {
    make: (content) => {
      const payload = JSON.stringify({ content, expires: later(clock(), lifeMs).getTime() });
      const value = sealer.seal(Buffer.from(payload), cookie.name).toString('base64url');
      return setCookie(cookie, { value, maxAgeSeconds: lifeMs / SECOND_MS, publicBaseUrl });
    },
    clear: () => clearCookie(cookie, publicBaseUrl),
    read: (cookies) => {
      const value = readCookie(cookie, cookies, publicBaseUrl);
      const opened = value === undefined ? undefined : open(value);
      return opened === undefined || opened.expires <= clock().getTime() ? undefined : opened.content;
    },
  };
};
