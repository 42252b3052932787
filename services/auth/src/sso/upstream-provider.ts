import type { Clock } from '@svc/service-kit';
import * as client from 'openid-client';
import { HOUR_MS, SECOND_MS } from '../time.ts';

/** Timeout of each call to the OpenID provider. */
const TIMEOUT_MS = 5 * SECOND_MS;
/** Age at which the metadata is fetched again. */
const METADATA_MS = HOUR_MS;
const SCOPE = 'openid email profile';
/** Age of the provider's own sign-in that counts as fresh: enough time to complete it there. */
const FRESH_SECONDS = 300;

/** The OpenID provider for single sign-on, and our client there. */
export interface SsoSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Display name of the provider. */
  readonly name: string | undefined;
}

/** Values that the provider's answer must match. */
export interface SsoChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** True if the provider was asked to authenticate the person again. */
  readonly isFresh: boolean;
}

/** Identity of a person, as claimed by the provider. */
export interface UpstreamIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  /** The address is proven only if this is `true` (OpenID Connect Core 1.0 section 5.1). */
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
  /** Time of the sign-in at the provider; undefined unless it was asked to repeat it and states when it did. */
  readonly authenticatedAt: Date | undefined;
}

/** Thrown if the provider's answer signs no one in. `isRefusal`: the provider reported that the person declined. */
export class UpstreamFailed extends Error {
  override readonly name = 'UpstreamFailed';
  readonly isRefusal: boolean;

  constructor(cause: unknown) {
    super('the OpenID provider did not sign the person in', { cause });
    this.isRefusal = cause instanceof client.AuthorizationResponseError && cause.error === 'access_denied';
  }
}

/** The OpenID provider, through openid-client. Both methods throw UpstreamFailed. */
export interface UpstreamProvider {
  /**
   * Returns the URL for the browser, and the values to keep until it returns. If `isFresh`, the provider has to
   * authenticate the person again.
   */
  readonly begin: (isFresh: boolean) => Promise<{ url: URL; checks: SsoChecks }>;
  /** Checks the answer in this URL and returns the identity. */
  readonly finish: (url: URL, checks: SsoChecks) => Promise<UpstreamIdentity>;
}

/**
 * Creates the client. It fetches the provider's metadata on first use, so that an outage there does not delay the
 * start.
 */
export const createUpstreamProvider = (
  settings: SsoSettings,
  deps: { redirectUri: string; clock: Clock },
): UpstreamProvider => {
  const configuration = keepConfiguration(settings, deps.clock);
  return {
    begin: (isFresh) =>
      wrapFailure(async () => {
        const checks = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          codeVerifier: client.randomPKCECodeVerifier(),
          isFresh,
        };
        const url = client.buildAuthorizationUrl(await configuration(), {
          redirect_uri: deps.redirectUri,
          scope: SCOPE,
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(checks.codeVerifier),
          code_challenge_method: 'S256',
          // Not every provider obeys `prompt`. With `max_age` it has to state when the person signed in there.
          ...(isFresh ? { prompt: 'login', max_age: String(FRESH_SECONDS) } : {}),
        });
        return { url, checks };
      }),
    finish: (url, checks) => wrapFailure(async () => readIdentity(await configuration(), url, checks)),
  };
};

const wrapFailure = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    // Any failure of the exchange means that the person is not signed in.
    throw new UpstreamFailed(error);
  }
};

const keepConfiguration = (settings: SsoSettings, clock: Clock): (() => Promise<client.Configuration>) => {
  let kept: { configuration: client.Configuration; at: number } | undefined;
  let pending: Promise<client.Configuration> | undefined;
  const discover = (): Promise<client.Configuration> => {
    pending ??= discoverProvider(settings)
      .then((configuration) => {
        kept = { configuration, at: clock().getTime() };
        return configuration;
      })
      .finally(() => {
        pending = undefined;
      });
    return pending;
  };
  return async () => {
    if (kept === undefined) return await discover();
    if (clock().getTime() - kept.at < METADATA_MS) return kept.configuration;
    const { configuration } = kept;
    // Stale metadata is better than none.
    return await discover().catch(() => configuration);
  };
};

const discoverProvider = (settings: SsoSettings): Promise<client.Configuration> => {
  const issuer = new URL(settings.issuer);
  return client.discovery(issuer, settings.clientId, undefined, client.ClientSecretBasic(settings.clientSecret), {
    timeout: TIMEOUT_MS / SECOND_MS,
    // Also checks the signature of the ID token, although it comes directly from the provider.
    execute: [
      client.enableNonRepudiationChecks,
      ...(issuer.protocol === 'http:' ? [client.allowInsecureRequests] : []),
    ],
  });
};

const readIdentity = async (
  configuration: client.Configuration,
  url: URL,
  checks: SsoChecks,
): Promise<UpstreamIdentity> => {
  const tokens = await client.authorizationCodeGrant(configuration, url, {
    expectedState: checks.state,
    expectedNonce: checks.nonce,
    pkceCodeVerifier: checks.codeVerifier,
    idTokenExpected: true,
    // Requires `auth_time` and judges it (OpenID Connect Core 1.0 section 3.1.3.7).
    ...(checks.isFresh ? { maxAge: FRESH_SECONDS } : {}),
  });
  const claims = tokens.claims();
  if (claims === undefined) throw new TypeError('there is no ID token');
  const info =
    claims['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
      ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
      : claims;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    email: textOf(info['email']),
    isEmailVerified: info['email_verified'] === true,
    name: textOf(info['name']),
    // A time that was not asked for may be of any age, and nothing has judged it.
    authenticatedAt: checks.isFresh ? timeOf(claims.auth_time) : undefined,
  };
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const timeOf = (seconds: number | undefined): Date => {
  if (seconds === undefined) throw new TypeError('the ID token has no auth_time');
  return new Date(seconds * SECOND_MS);
};
