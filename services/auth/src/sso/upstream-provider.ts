import type { Clock } from '@svc/service-kit';
import * as client from 'openid-client';
import { HOUR_MS, SECOND_MS } from '../time.ts';

/** Timeout of each call to the OpenID provider. */
const TIMEOUT_MS = 5 * SECOND_MS;
/** Age at which its metadata is read again. */
const METADATA_MS = HOUR_MS;
const SCOPE = 'openid email profile';

/** The OpenID provider that people may sign in with, and who we are to it. */
export interface SsoSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Name that people know it by. */
  readonly name: string | undefined;
}

/** Values that the provider's answer must match. */
export interface SsoChecks {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Whom the provider has signed in. */
export interface UpstreamIdentity {
  readonly issuer: string;
  readonly subject: string;
  readonly email: string | undefined;
  /** Only `true` says that the address is this person's (OpenID Connect Core 1.0 section 5.1). */
  readonly isEmailVerified: boolean;
  readonly name: string | undefined;
}

/** The provider's answer is not one that signs anybody in; `isRefusal` means that it says so itself. */
export class UpstreamFailed extends Error {
  override readonly name = 'UpstreamFailed';
  readonly isRefusal: boolean;

  constructor(cause: unknown) {
    super('the OpenID provider did not sign the person in', { cause });
    this.isRefusal = cause instanceof client.AuthorizationResponseError && cause.error === 'access_denied';
  }
}

/** The OpenID provider, through openid-client. Both throw UpstreamFailed. */
export interface UpstreamProvider {
  /** Returns the address for the browser, and the values to keep until it is back. */
  readonly begin: () => Promise<{ url: URL; checks: SsoChecks }>;
  /** Checks the answer in this URL and asks who it is. */
  readonly finish: (url: URL, checks: SsoChecks) => Promise<UpstreamIdentity>;
}

/** Reads the provider's metadata when it is first needed, so that its absence holds nothing else up. */
export const createUpstreamProvider = (
  settings: SsoSettings,
  deps: { redirectUri: string; clock: Clock },
): UpstreamProvider => {
  const configuration = keepConfiguration(settings, deps.clock);
  return {
    begin: () =>
      wrapFailure(async () => {
        const checks = {
          state: client.randomState(),
          nonce: client.randomNonce(),
          codeVerifier: client.randomPKCECodeVerifier(),
        };
        const url = client.buildAuthorizationUrl(await configuration(), {
          redirect_uri: deps.redirectUri,
          scope: SCOPE,
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await client.calculatePKCECodeChallenge(checks.codeVerifier),
          code_challenge_method: 'S256',
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
    // Any failure between us and the provider means that the person is not signed in.
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
    // What was read before is better than nothing.
    return await discover().catch(() => configuration);
  };
};

const discoverProvider = (settings: SsoSettings): Promise<client.Configuration> => {
  const issuer = new URL(settings.issuer);
  return client.discovery(issuer, settings.clientId, undefined, client.ClientSecretBasic(settings.clientSecret), {
    timeout: TIMEOUT_MS / SECOND_MS,
    // The signature of the ID token is checked too, though it comes from the provider itself.
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
  };
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
