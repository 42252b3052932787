import type { IncomingMessage, ServerResponse } from 'node:http';
import type { newId } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { batchCalls } from '@svc/service-kit';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { KeyRing } from '../signing-keys/index.ts';
import type { Transact } from '../transact.ts';
import { type CommitTokenWorkDeps, commitTokenWork, endGrantsOfWork } from './commit-token-work.ts';
import { createLibraryProvider, type LibraryProviderDeps } from './library-provider.ts';
import { hasNamedClientInForm, nameClientInForm } from './name-client-in-form.ts';
import { type Exchange, exchangeTokens } from './queries.ts';
import { readFormAhead } from './read-form-ahead.ts';
import { findGrantOfAccessToken } from './revoke-access-token.ts';
import { findFormIssues, hasMalformedVerifier, INVALID_GRANT, presentedIn, withUserId } from './token-answer.ts';
import { readTokenStates, type TokenQuestion } from './token-state.ts';
import { type TokenWork, withTokenWork } from './token-work.ts';

/** What the authorization server needs. */
export interface OauthServerDeps extends Omit<LibraryProviderDeps, 'readState'> {
  transact: Transact;
  newId: typeof newId;
  keys: KeyRing;
  /** Counts the grants that end because something was presented again. */
  reuses: { inc: () => void };
}

/** Answers a request to the token or the revocation endpoint. Throws `payload_too_large`. */
export type OauthServer = (req: IncomingMessage, res: ServerResponse, clientAddress: string) => Promise<void>;

/** The same, with the two round trips of a token request shared by those that come at one time. */
interface HandlerDeps extends OauthServerDeps, LibraryProviderDeps, CommitTokenWorkDeps {}

/** Where a request that the library is answering came from. */
const clientAddresses = new WeakMap<IncomingMessage, string>();

/** Creates the server around the library, and again whenever another key signs. */
export const createOauthServer = (options: OauthServerDeps): OauthServer => {
  const deps = withBatchedCalls(options);
  const issuer = new URL(deps.issuer);
  let current: { kid: string; handle: ReturnType<Provider['callback']> } | undefined;
  return async (req, res, clientAddress) => {
    clientAddresses.set(req, clientAddress);
    pinHost(req, issuer);
    nameClientInForm(req);
    if (req.method === 'POST') await readFormAhead(req);
    const key = deps.keys.active();
    if (current?.kid !== key.kid) current = { kid: key.kid, handle: buildHandler(deps) };
    await current.handle(req, res);
  };
};

/** Limits of one batch and of the queue, which is many batches of work. */
const BATCHING = { callsMax: 64, waitingMax: 2_048 };

const withBatchedCalls = (deps: OauthServerDeps): HandlerDeps => ({
  ...deps,
  readState: batchCalls({
    ...BATCHING,
    run: (questions: readonly TokenQuestion[]) => readTokenStates(deps.database, questions, deps.clock()),
  }),
  exchange: batchCalls({
    ...BATCHING,
    run: (exchanges: readonly Exchange[]) => exchangeTokens(deps.database, exchanges, deps.clock()),
  }),
});

/** The library names its own addresses by these: whatever was sent, they are the issuer's. */
const pinHost = (req: IncomingMessage, issuer: URL): void => {
  req.headers.host = issuer.host;
  req.headers['x-forwarded-host'] = issuer.host;
  req.headers['x-forwarded-proto'] = issuer.protocol.slice(0, -1);
};

const buildHandler = (deps: HandlerDeps): ReturnType<Provider['callback']> => {
  const provider = createLibraryProvider(deps, deps.keys.active());
  /** What the library itself has answered for, without a word of the cause. */
  const failures = new WeakMap<object, unknown>();
  provider.on('server_error', (ctx, error: unknown) => failures.set(ctx, error));
  provider.use(async (ctx, next) => {
    // The library adds `oidc` to the contexts of all routes that we let through.
    const context = ctx as unknown as KoaContextWithOIDC;
    const detectsReuse = ctx.path.endsWith('/token');
    // RFC 6749 section 5.1: beside Cache-Control, for caches of old.
    ctx.set('pragma', 'no-cache');
    try {
      await withTokenWork({ detectsReuse, presents: () => presentedIn(context) }, async (work) => {
        await next();
        if (failures.has(ctx)) throw failures.get(ctx);
        if (ctx.method !== 'POST') return;
        if (detectsReuse) await finishToken(deps, context, work);
        else if (ctx.path.endsWith('/revoke')) await finishRevocation(deps, context, work);
      });
      // RFC 6749 section 5.2: the answer names the scheme by which an app has tried.
      if (ctx.status === 401 && hasNamedClientInForm(ctx.req))
        ctx.set('www-authenticate', `Basic realm="${deps.issuer}"`);
    } catch (error) {
      deps.logger.error({ err: error }, 'a token request failed');
      const isAway = isConnectionFailure(error);
      ctx.status = isAway ? 503 : 500;
      ctx.body = isAway ? TEMPORARILY_UNAVAILABLE : SERVER_ERROR;
    }
  });
  return provider.callback();
};

/** RFC 6749 section 4.1.2.1, as section 5.2 has no code for failures of our own: the app tries again with what it has. */
const TEMPORARILY_UNAVAILABLE = {
  error: 'temporarily_unavailable',
  error_description: 'A part of the service is unavailable for the moment. Try again.',
};
const SERVER_ERROR = { error: 'server_error', error_description: 'Something failed on our side. Try again.' };

/** Makes the library's answer true before it goes out. */
const finishToken = async (deps: HandlerDeps, ctx: KoaContextWithOIDC, work: TokenWork): Promise<void> => {
  if (ctx.status === 200) {
    const outcome = await commitTokenWork(deps, work);
    if (outcome === 'issued') {
      ctx.body = withUserId(ctx.body, ctx);
      return;
    }
    if (outcome === 'reused' && work.consumption !== undefined) work.endedGrantIds.add(work.consumption.grantId);
    ctx.status = 400;
    ctx.body = INVALID_GRANT;
  }
  await endGrantsOfWork(deps, work, clientAddresses.get(ctx.req) ?? '');
  for (const grantId of work.endedGrantIds) {
    deps.reuses.inc();
    const fields = { grant_id: grantId, client_id: work.app?.clientId, reason: 'reuse' };
    deps.logger.warn(fields, 'a code or refresh token was presented again: its grant is ended');
  }
  if (errorOf(ctx.body) === 'invalid_request' && hasMalformedVerifier(ctx)) ctx.body = INVALID_GRANT;
  const issues = ctx.status < 500 ? findFormIssues(ctx) : [];
  if (issues.length === 0) return;
  ctx.status = 422;
  ctx.body = { detail: issues };
};

const finishRevocation = async (deps: OauthServerDeps, ctx: KoaContextWithOIDC, work: TokenWork): Promise<void> => {
  const isJwt = ctx.status === 400 && errorOf(ctx.body) === 'unsupported_token_type';
  const { client, params } = ctx.oidc;
  if (isJwt && client !== undefined && typeof params?.['token'] === 'string') {
    const grantId = await findGrantOfAccessToken(deps, params['token'], client.clientId);
    if (grantId !== undefined) work.endedGrantIds.add(grantId);
    ctx.status = 200;
  }
  // RFC 7009 section 2.2: the status says it all; but stock clients read every answer as JSON, also this one.
  if (ctx.status === 200) ctx.body = {};
  await endGrantsOfWork(deps, work, clientAddresses.get(ctx.req) ?? '');
};

const errorOf = (body: unknown): unknown =>
  typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
