import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@svc/service-kit';
import { z } from 'zod';
import { later, MINUTE_MS } from '../../time.ts';
import { type AskedQuery, askedQuerySchema } from './asked-query.ts';

/** Lifetime of an open form. */
export const FORM_MS = 30 * MINUTE_MS;
/** The longest query the contract takes, as JSON in base64, with room to spare. */
const TOKEN_CHARACTERS_MAX = 16_384;

/** Content that a form brings back unchanged: the app's request, and who and what it was made for. */
export interface FormContext {
  readonly query: AskedQuery;
  /** The browser that the form was made for: no other one's cookie fits. */
  readonly browserId: string;
  /** Session whose owner is asked; undefined if no one is signed in. */
  readonly sessionId: string | undefined;
  /** True if the app has pushed the request. */
  readonly isPushed: boolean;
  /** Different for each page that was shown, and the same however often it is sent. */
  readonly nonce: string;
}

/** Signs and reads the hidden field of the forms; it is their protection against forgery, too. */
export interface FormTokens {
  readonly sign: (context: FormContext) => string;
  /** Undefined: not ours, changed, or made for another browser. `isExpired` leaves the query to begin again with. */
  readonly read: (
    token: string,
    browserId: string | undefined,
  ) => { context: FormContext; isExpired: boolean } | undefined;
}

const payloadSchema = z.object({
  query: askedQuerySchema,
  browser: z.string(),
  session: z.string().optional(),
  // Forms made by the release before say nothing of it.
  pushed: z.boolean().default(false),
  nonce: z.string(),
  expires: z.number(),
});

/** Makes the signer. */
export const createFormTokens = (key: Buffer, clock: Clock): FormTokens => {
  const macKey = createSecretKey(key);
  const mac = (payload: string): Buffer => createHmac('sha256', macKey).update(payload).digest();
  return {
    sign: ({ query, browserId, sessionId, isPushed, nonce }) => {
      const expires = later(clock(), FORM_MS).getTime();
      const data = { query, browser: browserId, session: sessionId, pushed: isPushed, nonce, expires };
      const payload = Buffer.from(JSON.stringify(data)).toString('base64url');
      return `${payload}.${mac(payload).toString('base64url')}`;
    },
    read: (token, browserId) => {
      if (token.length > TOKEN_CHARACTERS_MAX || browserId === undefined) return undefined;
      const [payload = '', signature = ''] = token.split('.', 2);
      const expected = mac(payload);
      const given = Buffer.from(signature, 'base64url');
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
      const parsed = payloadSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
      if (parsed.browser !== browserId) return undefined;
      const { query, browser, session, pushed, nonce, expires } = parsed;
      const context = { query, browserId: browser, sessionId: session, isPushed: pushed, nonce };
      return { context, isExpired: expires <= clock().getTime() };
    },
  };
};
