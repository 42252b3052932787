import * as oauth from 'openid-client';
import { readServerUrl } from '../server-url.ts';
import { ConnectError, toConnectError } from './connect-error.ts';
import { ConnectionEndedError } from './connection-ended-error.ts';
import { type TokenSet, toTokenSet } from './token-set.ts';

/** Three attempts of this length fit into the default refresh grace of 30 s. */
const TIMEOUT_SECONDS = 8;
const DEFAULT_SCOPE = 'inference usage:read';

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
}

/** State between `begin` and `finish`. Keep it in the server-side session, never in the browser. */
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
  readonly budget?: BudgetProposal | undefined;
}

/** OAuth 2.0 authorization code flow with PKCE (RFC 6749, RFC 7636, RFC 9207). */
export interface Connector {
  /** Starts a flow. Throws `ConnectError` with reason `unavailable` if the service cannot be reached. */
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

/** Creates a connector without a request; the first use fetches the metadata. Throws `TypeError` on invalid options. */
export const createConnector = (options: ConnectorOptions): Connector => {
  const issuer = readServerUrl(options.issuer, 'issuer', options.allowInsecure);
  const redirectUri = readRedirectUri(options.redirectUri);
  const clock = options.clock ?? (() => new Date());
  const configure = lazily(() => discover(issuer, options));

  return {
    begin: (asked = {}) => guarded(async () => begin(await configure(), { redirectUri, options, asked })),
    finish: (callbackUrl, session) =>
      guarded(async () => {
        const callback = readCallback(callbackUrl, redirectUri);
        if (session === undefined || !isStateOf(callback, session)) throw new ConnectError('wrong_state');
        const configuration = await configure();
        const askedAtMs = clock().getTime();
        const answer = await oauth.authorizationCodeGrant(configuration, callback, {
          expectedState: session.state,
          pkceCodeVerifier: session.codeVerifier,
        });
        const tokens = toTokenSet(answer, askedAtMs);
        return { svcUserId: tokens.svcUserId, tokens };
      }),
    refresh: (tokens) => guarded(async () => refresh(await configure(), tokens, clock().getTime())),
    revoke: (tokens) => guarded(async () => oauth.tokenRevocation(await configure(), tokens.refreshToken)),
  };
};

const begin = async (
  configuration: oauth.Configuration,
  { redirectUri, options, asked }: { redirectUri: URL; options: ConnectorOptions; asked: BeginOptions },
): Promise<ConnectStart> => {
  const session = { state: oauth.randomState(), codeVerifier: oauth.randomPKCECodeVerifier() };
  const url = oauth.buildAuthorizationUrl(configuration, {
    response_type: 'code',
    redirect_uri: redirectUri.href,
    scope: options.scope ?? DEFAULT_SCOPE,
    state: session.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(session.codeVerifier),
    code_challenge_method: 'S256',
    ...(asked.locale === undefined ? {} : { locale: asked.locale }),
    ...(asked.budget === undefined ? {} : { authorization_details: toDetails(asked.budget) }),
  });
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

const refresh = async (configuration: oauth.Configuration, old: TokenSet, askedAtMs: number): Promise<TokenSet> => {
  try {
    const tokens = toTokenSet(await oauth.refreshTokenGrant(configuration, old.refreshToken), askedAtMs);
    if (tokens.svcUserId !== old.svcUserId) throw new ConnectError('rejected');
    return tokens;
  } catch (error) {
    // RFC 6749 section 5.2: the refresh token is invalid, expired or revoked.
    if (error instanceof oauth.ResponseBodyError && error.error === 'invalid_grant') {
      throw new ConnectionEndedError(old.svcUserId, { cause: error });
    }
    throw error;
  }
};

const discover = (issuer: URL, options: ConnectorOptions): Promise<oauth.Configuration> =>
  oauth.discovery(
    issuer,
    options.clientId,
    undefined,
    options.clientSecret === undefined ? oauth.None() : oauth.ClientSecretPost(options.clientSecret),
    {
      timeout: options.timeoutSeconds ?? TIMEOUT_SECONDS,
      // `readServerUrl` has checked the address: http means a loopback host or `allowInsecure`.
      execute: issuer.protocol === 'http:' ? [oauth.allowInsecureRequests] : [],
    },
  );

/** Runs `make` on first use and shares its result. A failure is not cached. */
const lazily = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
};

const readRedirectUri = (text: string): URL => {
  const url = new URL(text);
  if (url.search !== '' || url.hash !== '') throw new TypeError('redirectUri must have neither query nor fragment');
  // The service compares character by character, and `URL` sends the normalized form.
  if (url.href !== text) throw new TypeError(`redirectUri must be registered and given as ${url.href}`);
  return url;
};

/** Puts the query of the callback on the registered URI: behind a proxy, host and scheme of the request may differ. */
const readCallback = (callbackUrl: string | URL, redirectUri: URL): URL => {
  const callback = new URL(redirectUri);
  callback.search = new URL(callbackUrl, 'http://localhost').search;
  return callback;
};

const isStateOf = (callback: URL, session: ConnectSession): boolean => {
  const states = callback.searchParams.getAll('state');
  return states.length === 1 && session.state !== '' && states[0] === session.state;
};

const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ConnectionEndedError) throw error;
    throw toConnectError(error);
  }
};
