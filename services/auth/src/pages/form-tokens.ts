import { hash, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Macs } from '@svc/secrets';
import type { Clock } from '@svc/service-kit';
import { z } from 'zod';
import { type Cookie, readCookie, setCookie } from '../cookies-and-origins.ts';
import { later, MINUTE_MS } from '../time.ts';

/** Lifetime of an open form. */
export const FORM_MS = 30 * MINUTE_MS;
/** Longest query that the contract accepts, as JSON in base64, with some margin. */
const TOKEN_CHARACTERS_MAX = 16_384;

/** Content that a form returns unchanged: the app's request, and its browser and session. */
export interface FormContext<Query> {
  readonly query: Query;
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
export interface FormTokens<Query> {
  readonly sign: (context: FormContext<Query>) => string;
  /**
   * Returns undefined for a field that is not ours, was changed, or was made for another browser. If `isExpired`, only
   * the query is usable.
   */
  readonly read: (
    token: string,
    browserId: string | undefined,
  ) => { context: FormContext<Query>; isExpired: boolean } | undefined;
}

const payloadSchema = z.object({
  query: z.unknown(),
  browser: z.string(),
  session: z.string().optional(),
  pushed: z.boolean(),
  nonce: z.string(),
  expires: z.number(),
});

/** Creates the signer of forms about a kind of query. */
export const createFormTokens = <Query>(
  macs: Macs,
  clock: Clock,
  querySchema: z.ZodType<Query>,
): FormTokens<Query> => ({
  sign: ({ query, browserId, sessionId, isPushed, nonce }) => {
    const expires = later(clock(), FORM_MS).getTime();
    const data = { query, browser: browserId, session: sessionId, pushed: isPushed, nonce, expires };
    const payload = Buffer.from(JSON.stringify(data)).toString('base64url');
    return `${payload}.${macs.sign(payload).toString('base64url')}`;
  },
  read: (token, browserId) => {
    if (token.length > TOKEN_CHARACTERS_MAX || browserId === undefined) return undefined;
    const [payload = '', signature = ''] = token.split('.', 2);
    if (!macs.verify(payload, Buffer.from(signature, 'base64url'))) return undefined;
    const parsed = payloadSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    if (parsed.browser !== browserId) return undefined;
    const { browser, session, pushed, nonce, expires } = parsed;
    const query = querySchema.parse(parsed.query);
    const context = { query, browserId: browser, sessionId: session, isPushed: pushed, nonce };
    return { context, isExpired: expires <= clock().getTime() };
  },
});

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
