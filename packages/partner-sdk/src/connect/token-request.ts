import { routePaths } from '../generated/contract.ts';
import { readServerUrl } from '../server-url.ts';
import { ConnectError } from './connect-error.ts';
import { type OAuthTransport, postForm } from './oauth-request.ts';
import { type TokenSet, toTokenSet } from './token-set.ts';

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
