import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@svc/service-kit';
import { z } from 'zod';
import { later, MINUTE_MS } from '../../time.ts';
import { type AskedQuery, askedQuerySchema } from './asked-query.ts';

/** Lifetime of an open form. */
export const FORM_MS = 30 * MINUTE_MS;
/** Longest query that the contract accepts, as JSON in base64, with some margin. */
const TOKEN_CHARACTERS_MAX = 16_384;

/** Content that a form returns unchanged: the app's request, and its browser and session. */
export interface FormContext {
  readonly query: AskedQuery;
  /** Browser that the form was made for. The cookie of another one does not match. */
  readonly browserId: string;
  /** Session of the person asked; undefined if signed out. */
  readonly sessionId: string | undefined;
  /** True if the app has pushed the request. */
  readonly isPushed: boolean;
  /** Unique per rendered page, and the same each time the form is sent. */
  readonly nonce: string;
}

/** Signs and reads the hidden field of the forms, which also protects against CSRF. */
export interface FormTokens {
  readonly sign: (context: FormContext) => string;
  /**
   * Returns undefined for a field that is not ours, was changed, or was made for another browser. If `isExpired`, only
   * the query is usable.
   */
  readonly read: (
    token: string,
    browserId: string | undefined,
  ) => { context: FormContext; isExpired: boolean } | undefined;
}

const payloadSchema = z.object({
  query: askedQuerySchema,
  browser: z.string(),
  session: z.string().optional(),
  // Forms of the previous release omit it.
  pushed: z.boolean().default(false),
  nonce: z.string(),
  expires: z.number(),
});

/** Creates the signer. */
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
