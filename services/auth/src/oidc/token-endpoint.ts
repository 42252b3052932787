import { hash } from 'node:crypto';
import { INFERENCE_BUDGET, type InferenceBudget, idPattern } from '@svc/contracts';
import type { Clock, Logger } from '@svc/service-kit';
import { errors, Provider, type TokenEndpointGrantContext } from 'oidc-provider';
// The library's module for custom grant types. It may change in any release, so the catalog pins an exact version.
import { validateDpop } from 'oidc-provider/lib/helpers/grants.js';
import type { OauthClient } from '../apps/index.ts';
import type { BudgetJson, GrantRecord } from '../connections/index.ts';
import { later, SECOND_MS } from '../time.ts';
import type { Executor } from '../transact.ts';
import { type AccessTokenDeps, signAccessToken } from './access-token.ts';
import { type EndGrantDeps, endGrantOfRequest } from './end-grant-of-request.ts';
import { ACCESS_TOKEN_SECONDS } from './lifetimes.ts';
import { digestOpaqueValue, newOpaqueValue } from './opaque-value.ts';
import { ownResources } from './own-resources.ts';
import { insertProof } from './pushed-request-queries.ts';
import type { Exchange, ExchangeOutcome, Presented } from './queries.ts';
import type { TokenQuestion, TokenState } from './token-state.ts';

// A token request, in the order of its steps. The library parses the form, authenticates the client and renders errors.
// 1. The library asks for the client: `findClient` reads client, code or refresh token, and grant in one round trip.
// 2. The library authenticates the client and calls the handler of the grant type: `redeemCode` or `refresh`.
// 3. The handler judges what the client presents. Nothing has been written so far.
// 4. `issue` signs an access token and commits the exchange: the code or token is used up, a new refresh token stored.
// 5. The answer goes out only if the exchange was committed. If the code or token had been used before, the grant ends.

const { InvalidDpopProof, InvalidGrant, InvalidRequest, InvalidScope, InvalidTarget } = errors;

export interface TokenEndpointDeps extends AccessTokenDeps, EndGrantDeps {
  readonly database: Executor;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readState: (question: TokenQuestion) => Promise<TokenState>;
  readonly exchange: (exchange: Exchange) => Promise<ExchangeOutcome>;
  /** Currency of budgets. */
  readonly currency: string;
  /** Counts grants that end because a code or refresh token was reused. */
  readonly reuses: { readonly inc: () => void };
}

export interface TokenEndpoint {
  /** Finds the active app of a request, and keeps the state read with it for the handlers. */
  readonly findClient: (clientId: string) => Promise<OauthClient | undefined>;
  /** Registers the handlers of both grant types. */
  readonly register: (provider: Provider) => void;
}

interface Parameters {
  readonly code?: string;
  readonly code_verifier?: string;
  readonly redirect_uri?: string;
  readonly refresh_token?: string;
}

type Context = TokenEndpointGrantContext<Parameters>;

const CLIENT_ID = idPattern('app');

export const createTokenEndpoint = (deps: TokenEndpointDeps): TokenEndpoint => {
  const states = new WeakMap<object, TokenState>();
  const handler =
    (handle: (deps: TokenEndpointDeps, ctx: Context, state: TokenState) => Promise<void>) =>
    async (ctx: Context): Promise<void> => {
      const state = states.get(ctx);
      if (state === undefined) throw new Error('a grant was reached without its client');
      await handle(deps, ctx, state);
    };
  return {
    findClient: async (clientId) => {
      // Other text is no client id, and may contain characters that the database refuses.
      if (!CLIENT_ID.test(clientId)) return undefined;
      const ctx = Provider.ctx;
      const state = await deps.readState({ clientId, ...presentedIn(ctx?.oidc.params ?? {}) });
      if (ctx !== undefined) states.set(ctx, state);
      return state.client;
    },
    register: (provider) => {
      const more = ['resource'];
      const codeParameters = ['code', 'code_verifier', 'redirect_uri', ...more];
      provider.registerGrantType<Parameters>('authorization_code', handler(redeemCode), codeParameters, more);
      provider.registerGrantType<Parameters>(
        'refresh_token',
        handler(refresh),
        ['refresh_token', 'scope', ...more],
        more,
      );
    },
  };
};

/** Returns the digests of the code or refresh token that a form presents to the token endpoint. */
const presentedIn = (params: Readonly<Record<string, unknown>>): Omit<TokenQuestion, 'clientId'> => {
  const { grant_type: grantType, code, refresh_token: refreshToken } = params;
  const digestOf = (value: unknown): Buffer | null => (typeof value === 'string' ? digestOpaqueValue(value) : null);
  return {
    code: grantType === 'authorization_code' ? digestOf(code) : null,
    refreshToken: grantType === 'refresh_token' ? digestOf(refreshToken) : null,
  };
};

/** Redeems an authorization code (RFC 6749 section 4.1.3). */
const redeemCode = async (deps: TokenEndpointDeps, ctx: Context, { code }: TokenState): Promise<void> => {
  const { code: value, redirect_uri: redirectUri, code_verifier: verifier } = ctx.oidc.params;
  if (value === undefined || redirectUri === undefined) {
    throw new InvalidRequest('code and redirect_uri are required');
  }
  const proof = await validateDpop(ctx.oidc.provider, ctx);
  if (code === undefined) throw new InvalidGrant('authorization code not found');
  // A used code counts as stolen, no matter who presents it, so this precedes every other check.
  if (code.consumedAt !== null) return await refuseReuse(deps, ctx, code.grant);
  checkHolder(ctx, code, deps.clock());
  if (redirectUri !== code.redirectUri) throw new InvalidGrant('redirect_uri mismatch');
  if (!isVerifierOf(code.codeChallenge, verifier)) throw new InvalidGrant('PKCE verification failed');
  checkKey(ctx, code.dpopJkt, proof?.thumbprint);
  checkResource(deps, ctx);
  await issue(deps, ctx, {
    presented: { kind: 'authorization_code', digest: digestOpaqueValue(value) },
    grant: code.grant,
    budget: code.budget,
    scope: code.grant.scope,
    generation: 0,
    refreshJkt: refreshKey(ctx, proof),
    proof,
  });
};

/** Exchanges a refresh token (RFC 6749 section 6), which is rotated on each use (RFC 9700 section 4.14.2). */
const refresh = async (deps: TokenEndpointDeps, ctx: Context, { refreshToken: token }: TokenState): Promise<void> => {
  const { refresh_token: value } = ctx.oidc.params;
  if (value === undefined) throw new InvalidRequest('refresh_token is required');
  const proof = await validateDpop(ctx.oidc.provider, ctx);
  if (token === undefined) throw new InvalidGrant('refresh token not found');
  if (token.use === 'reuse') return await refuseReuse(deps, ctx, token.grant);
  checkHolder(ctx, token, deps.clock());
  checkKey(ctx, token.jkt, proof?.thumbprint);
  checkResource(deps, ctx);
  await issue(deps, ctx, {
    presented: { kind: 'refresh_token', digest: digestOpaqueValue(value) },
    grant: token.grant,
    budget: token.budget,
    scope: narrowScope(token.grant.scope, ctx.oidc.params.scope),
    generation: token.generation + 1,
    refreshJkt: token.jkt ?? refreshKey(ctx, proof),
    proof,
  });
};

/**
 * Returns the key that binds a new refresh token: that of the proof, if the client is public. A confidential client
 * authenticates by its secret, so its refresh tokens need no key (RFC 9449 section 5).
 */
const refreshKey = (ctx: Context, proof: Issue['proof']): string | null =>
  ctx.oidc.client.tokenEndpointAuthMethod === 'none' ? (proof?.thumbprint ?? null) : null;

const checkHolder = (ctx: Context, presented: { grant: GrantRecord; expiresAt: Date }, now: Date): void => {
  if (presented.grant.clientId !== ctx.oidc.client.clientId) throw new InvalidGrant('client mismatch');
  if (presented.expiresAt <= now) throw new InvalidGrant('expired');
};

/** RFC 7636 section 4.1. */
const CODE_VERIFIER = /^[A-Za-z0-9._~-]{43,128}$/;

/** Verifies PKCE with S256, the only accepted method (RFC 7636 section 4.6). */
const isVerifierOf = (challenge: string, verifier: string | undefined): boolean =>
  verifier !== undefined && CODE_VERIFIER.test(verifier) && hash('sha256', verifier, 'base64url') === challenge;

/**
 * Throws if the proof uses another key than the code or token is bound to, or is missing although the app requires one.
 */
const checkKey = (ctx: Context, bound: string | null, proven: string | undefined): void => {
  if (proven === undefined && ctx.oidc.client['dpopBoundAccessTokens'] === true)
    throw new InvalidGrant('DPoP proof missing');
  if (bound !== null && bound !== proven) throw new InvalidGrant('DPoP key mismatch');
};

const checkResource = ({ issuer }: TokenEndpointDeps, { oidc }: Context): void => {
  const own = ownResources(issuer);
  const named = [oidc.params.resource ?? []].flat();
  if (named.some((each) => !own.includes(each))) throw new InvalidTarget();
};

/** Returns the requested scope. Throws if it is wider than the granted one. */
const narrowScope = (granted: string, requested: string | undefined): string => {
  if (requested === undefined) return granted;
  const allowed = granted.split(' ');
  const names = [...new Set(requested.split(' '))];
  const wider = names.filter((name) => !allowed.includes(name));
  if (wider.length > 0) throw new InvalidScope('wider than the granted scope', wider.join(' '));
  return names.join(' ');
};

interface Issue {
  readonly presented: Omit<Presented, 'grantId'>;
  readonly grant: GrantRecord;
  readonly budget: BudgetJson | null;
  readonly scope: string;
  readonly generation: number;
  /** Thumbprint of the key that the new refresh token is bound to. */
  readonly refreshJkt: string | null;
  readonly proof: Awaited<ReturnType<typeof validateDpop>>;
}

/** Commits the exchange and responds with its tokens, or with `invalid_grant` if another request was faster. */
const issue = async (deps: TokenEndpointDeps, ctx: Context, input: Issue): Promise<void> => {
  const { grant, scope, proof } = input;
  await useProof(deps, ctx, proof);
  const accessToken = await signAccessToken(deps, { grant, scope, keyThumbprint: proof?.thumbprint });
  const refreshToken = newOpaqueValue('refresh_token');
  const outcome = await deps.exchange({
    presented: { ...input.presented, grantId: grant.id },
    refreshToken: { digest: digestOpaqueValue(refreshToken), generation: input.generation, jkt: input.refreshJkt },
  });
  if (outcome === 'reused') await refuseReuse(deps, ctx, grant);
  if (outcome !== 'issued') throw new InvalidGrant('the grant has ended');
  ctx.body = {
    access_token: accessToken,
    expires_in: ACCESS_TOKEN_SECONDS,
    refresh_token: refreshToken,
    scope,
    token_type: proof === undefined ? 'Bearer' : 'DPoP',
    svc_user_id: grant.userId,
    // RFC 9396 section 7.
    ...(input.budget === null ? {} : { authorization_details: [toDetails(deps, input.budget)] }),
  };
};

const toDetails = ({ currency }: TokenEndpointDeps, { expires_at, ...budget }: BudgetJson): InferenceBudget => ({
  type: INFERENCE_BUDGET,
  ...budget,
  currency,
  ...(expires_at === null ? {} : { expires_at: new Date(expires_at).toISOString() }),
});

/** The library accepts proofs made up to five minutes before or after its clock. */
const PROOF_SECONDS = 300;

/** Records the use of a proof. Throws if it was used before, on any replica (RFC 9449 section 11.1). */
const useProof = async (deps: TokenEndpointDeps, ctx: Context, proof: Issue['proof']): Promise<void> => {
  if (proof === undefined) return;
  const digest = digestOpaqueValue(`${ctx.oidc.client.clientId} ${proof.jti}`);
  const expiresAt = later(deps.clock(), 2 * PROOF_SECONDS * SECOND_MS);
  if (!(await insertProof(deps.database, { digest, expiresAt }))) throw new InvalidDpopProof('DPoP proof used before');
};

/** Ends the grant of a reused code or refresh token (RFC 6749 section 4.1.2, RFC 9700 section 4.14.2). */
const refuseReuse = async (deps: TokenEndpointDeps, ctx: Context, grant: GrantRecord): Promise<never> => {
  await endGrantOfRequest(deps, ctx.req, { grantId: grant.id, action: 'token_reused' });
  deps.reuses.inc();
  const fields = { grant_id: grant.id, client_id: ctx.oidc.client.clientId, reason: 'reuse' };
  deps.logger.warn(fields, 'grant ended: a code or refresh token was presented again');
  throw new InvalidGrant('used before');
};
