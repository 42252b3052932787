import type { Clock, Logger } from '@svc/service-kit';
import type { Provider, TokenEndpointGrantContext } from 'oidc-provider';
import type { OauthClient } from '../apps/index.ts';
import type { ClientDocuments } from '../client-documents/index.ts';
import type { Executor } from '../transact.ts';
import type { AccessTokenDeps } from './access-token.ts';
import type { PollPacer } from './device-polls.ts';
import type { EndGrantDeps } from './end-grant-of-request.ts';
import type { Exchange, ExchangeOutcome } from './queries.ts';
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
