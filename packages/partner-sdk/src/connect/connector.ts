import { DEFAULT_SCOPE, routePaths } from '../generated/contract.ts';
import { readServerUrl } from '../server-url.ts';
import { ConnectError, toConnectError } from './connect-error.ts';
import { ConnectionEndedError } from './connection-ended-error.ts';
import { addressOf, type OAuthTransport, postForm } from './oauth-request.ts';
import { challengeOf, randomText } from './pkce.ts';
import { type TokenSet, toTokenSet } from './token-set.ts';

/** Three attempts of this length fit into the default refresh grace of 30 s. */
const TIMEOUT_SECONDS = 8;

export interface ConnectorOptions {
  /** Base URL of the service. */
  readonly issuer: string;
  readonly clientId: string;
  /** Confidential apps only. */
  readonly clientSecret?: string | undefined;
  /** One of the registered redirect URIs, character for character, without a query. */
  readonly redirectUri: string;
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

/** A limit of the app's use of the user's plan, as the app proposes it. The user may change or remove it. */
export interface BudgetProposal {
  /** In millionths of the currency. */
  readonly limitMicros: number;
  readonly currency: string;
  readonly period: 'week' | 'month' | 'total';
  readonly expiresAt?: Date | undefined;
}

export interface BeginOptions {
  readonly locale?: 'it' | 'en' | undefined;
  /** Returns a code without a page, or `interaction_required` if the user has to sign in or to consent. */
  readonly prompt?: 'none' | undefined;
  readonly budget?: BudgetProposal | undefined;
}

/** OAuth 2.0 authorization code flow with PKCE (RFC 6749, RFC 7636, RFC 9207). */
export interface Connector {
  /** Starts a flow. Sends no request. */
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
  const issuer = readServerUrl(options.issuer, 'issuer', options.allowInsecure);
  const redirectUri = readRedirectUri(options.redirectUri);
  const clock = options.clock ?? (() => new Date());
  const transport: OAuthTransport = {
    issuer,
    clientId: options.clientId,
    clientSecret: options.clientSecret,
    timeoutMs: (options.timeoutSeconds ?? TIMEOUT_SECONDS) * 1000,
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
  };
  const requestTokens = async (fields: Readonly<Record<string, string>>): Promise<TokenSet> => {
    const askedAtMs = clock().getTime();
    const answer = await postForm(transport, routePaths.token, fields);
    try {
      return toTokenSet(answer, askedAtMs);
    } catch (cause) {
      throw new ConnectError('rejected', { cause });
    }
  };

  return {
    begin: async (asked = {}) => begin(issuer, options, asked),
    finish: async (callbackUrl, session) => {
      // Behind a proxy, host and scheme of the request may differ: only the query counts.
      const callback = new URL(callbackUrl, 'http://localhost').searchParams;
      const code = readCode(callback, { session, issuer });
      const tokens = await requestTokens({
        grant_type: 'authorization_code',
        code,
        redirect_uri: redirectUri.href,
        code_verifier: session?.codeVerifier ?? '',
      });
      return { svcUserId: tokens.svcUserId, tokens };
    },
    refresh: async (old) => {
      const fields = { grant_type: 'refresh_token', refresh_token: old.refreshToken };
      const tokens = await requestTokens(fields).catch((error: unknown) => {
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

const begin = async (issuer: URL, options: ConnectorOptions, asked: BeginOptions): Promise<ConnectStart> => {
  const session = { state: randomText(), codeVerifier: randomText() };
  const url = addressOf(issuer, routePaths.authorize);
  url.search = new URLSearchParams({
    response_type: 'code',
    client_id: options.clientId,
    redirect_uri: options.redirectUri,
    scope: options.scope ?? DEFAULT_SCOPE,
    state: session.state,
    code_challenge: await challengeOf(session.codeVerifier),
    code_challenge_method: 'S256',
    ...(asked.locale === undefined ? {} : { locale: asked.locale }),
    ...(asked.prompt === undefined ? {} : { prompt: asked.prompt }),
    ...(asked.budget === undefined ? {} : { authorization_details: toDetails(asked.budget) }),
  }).toString();
  return { url: url.href, session };
};

/** RFC 9396 section 2. */
const toDetails = ({ limitMicros, currency, period, expiresAt }: BudgetProposal): string =>
  JSON.stringify([
    {
      type: 'inference_budget',
      limit_micros: limitMicros,
      currency,
      period,
      ...(expiresAt === undefined ? {} : { expires_at: expiresAt.toISOString() }),
    },
  ]);

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
