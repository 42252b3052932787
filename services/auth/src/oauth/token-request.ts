import type { IncomingMessage } from 'node:http';
import type { newId } from '@svc/contracts';
import type { Clock, Logger } from '@svc/service-kit';
import { errors, type Provider, type TokenEndpointGrantContext } from 'oidc-provider';
import type { ClientDocuments, OauthClient } from '../apps/index.ts';
import { endGrant, originOf } from '../connections/index.ts';
import type { Executor, Transact } from '../transact.ts';
import type { AccessTokenDeps } from './access-token.ts';
import type { PollPacer } from './device-codes.ts';
import { ownResources } from './server-metadata.ts';
import type { Exchange, ExchangeOutcome } from './token-queries.ts';
import type { TokenQuestion, TokenState } from './token-state.ts';

export interface TokenEndpointDeps extends AccessTokenDeps, EndGrantDeps {
  readonly database: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readState: (question: TokenQuestion) => Promise<TokenState>;
  readonly exchange: (exchange: Exchange) => Promise<ExchangeOutcome>;
  readonly documents: ClientDocuments;
  readonly polls: PollPacer;
  /** Currency of budgets. */
  readonly currency: string;
  /** Counts grants that end because a code or refresh token was reused. */
  readonly reuses: { readonly inc: () => void };
}

export interface TokenEndpoint {
  /** Finds the active app of a request, and keeps the state read with it for the handlers. */
  readonly findClient: (clientId: string) => Promise<OauthClient | undefined>;
  /** Registers the handlers of all grant types. */
  readonly register: (provider: Provider) => void;
}

interface Parameters {
  readonly code?: string;
  readonly code_verifier?: string;
  readonly redirect_uri?: string;
  readonly refresh_token?: string;
  readonly device_code?: string;
}

/** The library's context of a token request. */
export type TokenContext = TokenEndpointGrantContext<Parameters>;

/** Handles a grant type: judges what the client presents, and responds with tokens or throws the library's error. */
export type GrantHandler = (deps: TokenEndpointDeps, ctx: TokenContext, state: TokenState) => Promise<void>;

export interface EndGrantDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

const clientAddresses = new WeakMap<IncomingMessage, string>();

/** Stores the network address of a request, which the library does not pass on. */
export const noteClientAddress = (req: IncomingMessage, clientAddress: string): void => {
  clientAddresses.set(req, clientAddress);
};

/** Returns the network address of a request. */
export const clientAddressOf = (req: IncomingMessage): string => clientAddresses.get(req) ?? '';

/** Ends a grant and appends its revocation. Does nothing if the grant has ended already. */
export const endGrantOfRequest = async (
  deps: EndGrantDeps,
  req: IncomingMessage,
  { grantId, action }: { grantId: string; action: 'token_reused' | 'revoked_by_app' },
): Promise<void> => {
  const origin = originOf(clientAddressOf(req), 'app');
  await deps.transact((trx) => endGrant(deps, trx, grantId, { action, origin, now: deps.clock() }));
};

const { InvalidGrant, InvalidTarget } = errors;

/**
 * Throws if the code or token was issued to another client (RFC 6749 section 5.2). Checked first: another client must
 * not end a grant with a used code or token that it has found.
 */
export const checkClient = (ctx: TokenContext, { clientId }: { clientId: string }): void => {
  if (clientId !== ctx.oidc.client.clientId) throw new InvalidGrant('client mismatch');
};

/** Throws if the code or token has expired. */
export const checkExpiry = ({ isExpired }: { isExpired: boolean }): void => {
  if (isExpired) throw new InvalidGrant('expired');
};

/**
 * Throws if the proof uses another key than the code or token is bound to, or is missing although the app requires one.
 */
export const checkKey = (ctx: TokenContext, bound: string | null, proven: string | undefined): void => {
  if (proven === undefined && ctx.oidc.client['dpopBoundAccessTokens'] === true)
    throw new InvalidGrant('DPoP proof missing');
  if (bound !== null && bound !== proven) throw new InvalidGrant('DPoP key mismatch');
};

/** Throws if the request names a resource that is not ours (RFC 8707 section 2). */
export const checkResource = ({ issuer }: TokenEndpointDeps, { oidc }: TokenContext): void => {
  const own = ownResources(issuer);
  const named = [oidc.params.resource ?? []].flat();
  if (named.some((each) => !own.includes(each))) throw new InvalidTarget();
};
