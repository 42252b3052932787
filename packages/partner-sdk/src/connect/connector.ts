import { encodeBase64Url } from '../bytes.ts';
import { DEFAULT_SCOPE, routePaths } from '../generated/contract.ts';
import { accepts, object, text } from '../shape.ts';
import { ConnectError, toConnectError } from './connect-error.ts';
import type { TokenSet } from './token-request.ts';
import {
  addressOf,
  clockOf,
  type OAuthClientOptions,
  type OAuthTransport,
  postForm,
  requestTokens,
  toTransport,
} from './token-request.ts';

/** A limit of the app's use of the user's plan, as the app proposes it. The user may change or remove it. */
export interface BudgetProposal {
  /** In millionths of the currency. */
  readonly limitMicros: number;
  readonly currency: string;
  readonly period: 'week' | 'month' | 'total';
  readonly expiresAt?: Date | undefined;
}

/** Returns the proposal as `authorization_details` (RFC 9396 section 2). */
export const toDetails = ({ limitMicros, currency, period, expiresAt }: BudgetProposal): string =>
  JSON.stringify([
    {
      type: 'inference_budget',
      limit_micros: limitMicros,
      currency,
      period,
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
    },
  ]);

const RANDOM_BYTES = 32;

/** Returns 43 characters that carry 256 random bits: a `state` or a code verifier (RFC 7636 section 4.1). */
const randomText = (): string => encodeBase64Url(crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)));

/** Returns the S256 challenge of a verifier (RFC 7636 section 4.2). */
const challengeOf = async (codeVerifier: string): Promise<string> =>
  encodeBase64Url(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))));

/** The user is not connected. Only a new connect flow brings tokens. */
export class ConnectionEndedError extends Error {
  override readonly name = 'ConnectionEndedError';
  readonly svcUserId: string;

  constructor(svcUserId: string, options: { cause?: unknown } = {}) {
    super('The user is not connected. Start a new connect flow.', options);
    this.svcUserId = svcUserId;
  }
}

export interface ConnectorOptions extends OAuthClientOptions {
  /** One of the registered redirect URIs, character for character, without a query. */
  readonly redirectUri: string;
  /**
   * Sends the request to the service before the browser goes there (RFC 9126), for an app registered with
   * `require_pushed_authorization_requests`.
   */
  readonly pushesRequests?: boolean | undefined;
}

/** State between `begin` and `finish`. A server keeps it in its session of the browser, a page in `sessionStorage`. */
export interface ConnectSession {
  readonly state: string;
  readonly codeVerifier: string;
}

export interface ConnectStart {
  /** Address to send the browser to. */
  readonly url: string;
  readonly session: ConnectSession;
}

export interface ConnectedUser {
  /** Link this id to the local user whose session started the flow. Only the token response carries it. */
  readonly svcUserId: string;
  readonly tokens: TokenSet;
}

export interface BeginOptions {
  readonly locale?: 'it' | 'en' | undefined;
  /** Returns a code without a page, or `interaction_required` if the user has to sign in or to consent. */
  readonly prompt?: 'none' | undefined;
  readonly budget?: BudgetProposal | undefined;
}

/** OAuth 2.0 authorization code flow with PKCE (RFC 6749, RFC 7636, RFC 9207). */
export interface Connector {
  /** Starts a flow. Sends no request, except with `pushesRequests`. Then it throws `ConnectError`. */
  begin(options?: BeginOptions): Promise<ConnectStart>;
  /**
   * Finishes a flow. `callbackUrl` is the address the browser returned to; a path with its query is enough. Delete the
   * stored `session` before the call: a flow can be finished only once. Throws `ConnectError`.
   */
  finish(callbackUrl: string | URL, session: ConnectSession | undefined): Promise<ConnectedUser>;
  /**
   * Exchanges a refresh token. Throws `ConnectionEndedError` or `ConnectError`. `createUserTokens` calls it when
   * needed.
   */
  refresh(tokens: TokenSet): Promise<TokenSet>;
  /** Revokes the tokens (RFC 7009). The connection stays until the user removes it. Throws `ConnectError`. */
  revoke(tokens: TokenSet): Promise<void>;
}

/** Creates a connector. Sends no request. Throws `TypeError` on invalid options. */
export const createConnector = (options: ConnectorOptions): Connector => {
  const transport = toTransport(options);
  const { issuer } = transport;
  const redirectUri = readRedirectUri(options.redirectUri);
  const clock = clockOf(options);

  return {
    begin: async (asked = {}) => begin(transport, options, asked),
    finish: async (callbackUrl, session) => {
      // Behind a proxy, host and scheme of the request may differ: only the query counts.
      const callback = new URL(callbackUrl, 'http://localhost').searchParams;
      const code = readCode(callback, { session, issuer });
      const tokens = await requestTokens(transport, clock, {
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri.href,
        code_verifier: session?.codeVerifier ?? '',
      });
      return { svcUserId: tokens.svcUserId, tokens };
    },
    refresh: async (old) => {
      const fields = { grant_type: 'refresh_token', refresh_token: old.refreshToken };
      const tokens = await requestTokens(transport, clock, fields).catch((error: unknown) => {
        // RFC 6749 section 5.2: the refresh token is invalid, expired or revoked.
        const isOver = error instanceof ConnectError && error.oauthError === 'invalid_grant';
        throw isOver ? new ConnectionEndedError(old.svcUserId, { cause: error }) : error;
      });
      if (tokens.svcUserId !== old.svcUserId) throw new ConnectError('rejected');
      return tokens;
    },
    revoke: async (tokens) => {
      await postForm(transport, routePaths.revoke, { token: tokens.refreshToken, token_type_hint: 'refresh_token' });
    },
  };
};

const begin = async (
  transport: OAuthTransport,
  options: ConnectorOptions,
  asked: BeginOptions,
): Promise<ConnectStart> => {
  const session = { state: randomText(), codeVerifier: randomText() };
  const url = addressOf(transport.issuer, routePaths.authorize);
  const fields = {
    response_type: 'code',
    redirect_uri: options.redirectUri,
    scope: options.scope ?? DEFAULT_SCOPE,
    state: session.state,
    code_challenge: await challengeOf(session.codeVerifier),
    code_challenge_method: 'S256',
    ...(asked.locale === undefined ? {} : { locale: asked.locale }),
    ...(asked.prompt === undefined ? {} : { prompt: asked.prompt }),
    ...(asked.budget === undefined ? {} : { authorization_details: toDetails(asked.budget) }),
  };
  const query = options.pushesRequests ? await push(transport, fields) : fields;
  url.search = new URLSearchParams({ ...query, client_id: options.clientId }).toString();
  return { url: url.href, session };
};

const pushedShape = object({ request_uri: text(1) });

/** Pushes the request and returns its reference. Throws `ConnectError`. */
const push = async (
  transport: OAuthTransport,
  fields: Readonly<Record<string, string>>,
): Promise<{ readonly request_uri: string }> => {
  const pushed = await postForm(transport, routePaths.par, fields);
  if (!accepts(pushedShape, pushed)) throw new ConnectError('rejected');
  return { request_uri: pushed.request_uri };
};

/** Returns the code of a callback that belongs to the session and comes from the issuer. Throws `ConnectError`. */
const readCode = (
  callback: URLSearchParams,
  { session, issuer }: { session: ConnectSession | undefined; issuer: URL },
): string => {
  const [state, ...furtherStates] = callback.getAll('state');
  if (session === undefined || session.state === '' || state !== session.state || furtherStates.length > 0) {
    throw new ConnectError('wrong_state');
  }
  // RFC 9207 section 2.4: the service names itself in every answer.
  const [iss, ...furtherIssuers] = callback.getAll('iss');
  if (iss !== issuer.href.replace(/\/$/, '') || furtherIssuers.length > 0) throw new ConnectError('rejected');
  const error = callback.get('error');
  if (error !== null) throw toConnectError(error);
  const [code = '', ...furtherCodes] = callback.getAll('code');
  if (code === '' || furtherCodes.length > 0) throw new ConnectError('rejected');
  return code;
};

const readRedirectUri = (text: string): URL => {
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '') throw new TypeError('redirectUri must have neither query nor fragment');
  // The service compares character by character, and `URL` sends the normalized form.
  if (url.href !== text) throw new TypeError(`redirectUri must be registered and given as ${url.href}`);
  return url;
};
