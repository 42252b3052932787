import * as oauth from 'openid-client';
import { readServerUrl } from '../server-url.ts';
import { ConnectError, toConnectError } from './connect-error.ts';
import { ConnectionEndedError } from './connection-ended-error.ts';
import { type TokenSet, toTokenSet } from './token-set.ts';

/** Three tries of a refresh, each of this length, stay within the default refresh grace of 30 s. */
const TIMEOUT_SECONDS = 8;
const DEFAULT_SCOPE = 'inference usage:read';

/** How an app is registered, and where. */
export interface ConnectorOptions {
  /** The service's base URL. */
  readonly issuer: string;
  readonly clientId: string;
  /** Of a confidential app only. */
  readonly clientSecret?: string | undefined;
  /** One of the registered redirect URIs, letter by letter, without a query. */
  readonly redirectUri: string;
  /** Scopes separated by spaces; `inference usage:read` unless given. */
  readonly scope?: string | undefined;
  /** Allows http to a host that is not loopback. Never in production. */
  readonly allowInsecure?: boolean | undefined;
  /** Seconds that one request to the service may take. */
  readonly timeoutSeconds?: number | undefined;
  readonly clock?: (() => Date) | undefined;
}

/** What `finish` needs of `begin`. Keep it in the server-side session of the browser, never in the browser itself. */
export interface ConnectSession {
  readonly state: string;
  readonly codeVerifier: string;
}

/** A flow that has begun. */
export interface ConnectStart {
  /** Where to send the browser. */
  readonly url: string;
  readonly session: ConnectSession;
}

/** A user who is connected now. */
export interface ConnectedUser {
  /** Bind it to the local user whose session began the flow. It comes from the token response only. */
  readonly svcUserId: string;
  readonly tokens: TokenSet;
}

/** Connects users: OAuth 2.0 authorization code with PKCE (RFC 6749, RFC 7636, RFC 9207). */
export interface Connector {
  /** Begins a flow. Throws `ConnectError`, reason `unavailable`, when the service cannot be reached. */
  begin(options?: { locale?: 'it' | 'en' | undefined }): Promise<ConnectStart>;
  /**
   * Ends a flow. `callbackUrl` is what the browser came back with, a path with its query suffices; `session` is what was
   * kept for this browser, which must be forgotten before the call: a flow can be finished once. Throws `ConnectError`.
   */
  finish(callbackUrl: string | URL, session: ConnectSession | undefined): Promise<ConnectedUser>;
  /** New tokens for old. Throws `ConnectionEndedError`, or `ConnectError`. `createUserTokens` does this when it is needed. */
  refresh(tokens: TokenSet): Promise<TokenSet>;
  /** Ends these tokens (RFC 7009); the user's connection stays until the user removes it. Throws `ConnectError`. */
  revoke(tokens: TokenSet): Promise<void>;
}

/** Makes a connector. Throws `TypeError` on options that cannot work; the service is first asked at first use. */
export const createConnector = (options: ConnectorOptions): Connector => {
  const issuer = readServerUrl(options.issuer, 'issuer', options.allowInsecure);
  const redirectUri = readRedirectUri(options.redirectUri);
  const clock = options.clock ?? (() => new Date());
  const configure = lazily(() => discover(issuer, options));

  return {
    begin: ({ locale } = {}) => guarded(async () => begin(await configure(), { redirectUri, options, locale })),
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
  { redirectUri, options, locale }: { redirectUri: URL; options: ConnectorOptions; locale: string | undefined },
): Promise<ConnectStart> => {
  const session = { state: oauth.randomState(), codeVerifier: oauth.randomPKCECodeVerifier() };
  const url = oauth.buildAuthorizationUrl(configuration, {
    response_type: 'code',
    redirect_uri: redirectUri.href,
    scope: options.scope ?? DEFAULT_SCOPE,
    state: session.state,
    code_challenge: await oauth.calculatePKCECodeChallenge(session.codeVerifier),
    code_challenge_method: 'S256',
    ...(locale === undefined ? {} : { locale }),
  });
  return { url: url.href, session };
};

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
      // The address was checked already: http is left to loopback hosts and to who asked for it.
      execute: issuer.protocol === 'http:' ? [oauth.allowInsecureRequests] : [],
    },
  );

/** Runs `make` once and shares what it gives; a failure is not kept. */
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
  // The service compares letters, and what is sent is the normal form.
  if (url.href !== text) throw new TypeError(`redirectUri must be registered and given as ${url.href}`);
  return url;
};

/** The registered callback with the parameters that came: behind a proxy the request's own host and scheme may differ. */
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
