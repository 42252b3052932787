import { readBytes } from '../bytes.ts';
import { routePaths, tokenResponseShape } from '../generated/contract.ts';
import { readServerUrl } from '../server-url.ts';
import { accepts, type Infer, object, ShapeError, text } from '../shape.ts';
import { ConnectError, toConnectError } from './connect-error.ts';

const ANSWER_BYTES_MAX = 64 * 1024;

export interface OAuthTransport {
  readonly issuer: URL;
  readonly clientId: string;
  readonly clientSecret: string | undefined;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
}

const oauthErrorShape = object({ error: text(1) });

/** Posts a form to an OAuth endpoint and returns its JSON answer. Throws `ConnectError`. */
export const postForm = async (
  transport: OAuthTransport,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<unknown> => {
  const { issuer, clientId, clientSecret } = transport;
  const form = new URLSearchParams({ ...fields, client_id: clientId });
  if (clientSecret !== undefined) form.set('client_secret', clientSecret);
  let response: Response;
  let body: unknown;
  try {
    response = await transport.fetch(addressOf(issuer, path), {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: form,
      // Never send the secret or a token to another host.
      redirect: 'manual',
      signal: AbortSignal.timeout(transport.timeoutMs),
    });
    body = parse(await readBytes(response.body, ANSWER_BYTES_MAX));
  } catch (cause) {
    throw new ConnectError(cause instanceof RangeError ? 'rejected' : 'unavailable', { cause });
  }
  // A pushed request is created.
  if (response.status === 200 || response.status === 201) return body;
  if (response.status === 429 || response.status >= 500) throw new ConnectError('unavailable');
  if (accepts(oauthErrorShape, body)) throw toConnectError(body.error);
  throw new ConnectError(response.status === 401 ? 'misconfigured' : 'rejected');
};

/** Appends a path of the contract to the address of the service. */
export const addressOf = (base: URL, path: string): URL => new URL(base.href.replace(/\/$/, '') + path);

const parse = (bytes: Uint8Array): unknown => {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // The status alone decides.
    return undefined;
  }
};

/** The limit of this app's use of the user's plan, as the user has granted it. */
export interface GrantedBudget {
  /** In millionths of the currency. */
  readonly limitMicros: number;
  readonly currency: string;
  /** `week` and `month` are windows of the subscription; `total` counts until the user removes the limit. */
  readonly period: 'week' | 'month' | 'total';
  /** Time after which the app can use nothing until the user renews the limit, in milliseconds since the epoch. */
  readonly expiresAtMs?: number;
}

/** Tokens of one connected user. Plain JSON, so that any store can hold it. Encrypt it at rest. */
export interface TokenSet {
  /** The user's id at the service. Only the token response carries it. */
  readonly svcUserId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Granted scopes, separated by spaces. */
  readonly scope: string;
  /** Expiry of the access token, in milliseconds since the epoch. */
  readonly expiresAtMs: number;
  /** The user's limit as of this token response; absent without one. The user may change it at any time. */
  readonly budget?: GrantedBudget;
}

/** Reads the answer to a token request sent at `askedAtMs`. Throws a `ShapeError` if the answer is incomplete. */
const toTokenSet = (answer: unknown, askedAtMs: number): TokenSet => {
  const tokens = tokenResponseShape(answer, 'token response');
  const isComplete = tokens.access_token !== '' && tokens.refresh_token !== '' && tokens.expires_in >= 1;
  // RFC 9449 section 5: `DPoP` for tokens that are bound to a key.
  if (!isComplete || !['bearer', 'dpop'].includes(tokens.token_type.toLowerCase())) {
    throw new ShapeError('token response: expected bearer or DPoP tokens with a lifetime');
  }
  return {
    svcUserId: tokens.svc_user_id,
    accessToken: tokens.access_token,
    refreshToken: tokens.refresh_token,
    scope: tokens.scope,
    expiresAtMs: askedAtMs + tokens.expires_in * 1000,
    ...toBudget(tokens.authorization_details?.[0]),
  };
};

type Detail = NonNullable<Infer<typeof tokenResponseShape>['authorization_details']>[number];

const toBudget = (detail: Detail | undefined): { budget?: GrantedBudget } => {
  if (detail === undefined) return {};
  const { limit_micros: limitMicros, currency, period, expires_at: expiresAt } = detail;
  const expiry = expiresAt === undefined ? {} : { expiresAtMs: Date.parse(expiresAt) };
  return { budget: { limitMicros, currency, period, ...expiry } };
};

/** Three attempts of this length fit into the default refresh grace of 30 s. */
const TIMEOUT_SECONDS = 8;

/** Address of the service, and the client that an app is there. */
export interface OAuthClientOptions {
  /** Base URL of the service. */
  readonly issuer: string;
  readonly clientId: string;
  /** Confidential apps only. */
  readonly clientSecret?: string | undefined;
  /** Scopes separated by spaces. Defaults to `inference usage:read`. */
  readonly scope?: string | undefined;
  /** Allows http to hosts that are not loopback. Never set it in production. */
  readonly allowInsecure?: boolean | undefined;
  /** Time limit of one request to the service, in seconds. */
  readonly timeoutSeconds?: number | undefined;
  readonly clock?: (() => Date) | undefined;
  /** A replacement for `fetch`, for example one with a proxy. */
  readonly fetch?: typeof fetch | undefined;
}

/** Returns the transport of a client. Throws `TypeError` for an invalid issuer. */
export const toTransport = (options: OAuthClientOptions): OAuthTransport => ({
  issuer: readServerUrl(options.issuer, 'issuer', options.allowInsecure),
  clientId: options.clientId,
  clientSecret: options.clientSecret,
  timeoutMs: (options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000,
  fetch: options.fetch ?? ((input, init) => fetch(input, init)),
});

/** Returns the clock of a client. */
export const clockOf = ({ clock }: OAuthClientOptions): (() => Date) => clock ?? (() => new Date());

/** Requests tokens. Throws `ConnectError`. */
export const requestTokens = async (
  transport: OAuthTransport,
  clock: () => Date,
  fields: Readonly<Record<string, string>>,
): Promise<TokenSet> => {
  const askedAtMs = clock().getTime();
  const answer = await postForm(transport, routePaths.token, fields);
  try {
    return toTokenSet(answer, askedAtMs);
  } catch (cause) {
    throw new ConnectError('rejected', { cause });
  }
};
