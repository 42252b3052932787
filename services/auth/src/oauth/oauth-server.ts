import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { FORM_BYTES_MAX, type ValidationIssue } from '@svc/contracts';
import { isConnectionFailure } from '@svc/database';
import { AppError, batchCalls, readBodyBytes } from '@svc/service-kit';
import type { KoaContextWithOIDC } from 'oidc-provider';
import { findGrantOfAccessToken } from './access-token.ts';
import { DEVICE_POLL_SECONDS } from './codes-and-tokens.ts';
import { createPollPacer } from './device-codes.ts';
import { createLibraryProvider, type LibraryProviderDeps } from './library-provider.ts';
import { createTokenEndpoint } from './token-endpoint.ts';
import { type Exchange, exchangeTokens } from './token-queries.ts';
import { endGrantOfRequest, noteClientAddress, type TokenEndpointDeps } from './token-request.ts';
import { readTokenStates, type TokenQuestion } from './token-state.ts';

const namedByBasic = new WeakSet<IncomingMessage>();

/**
 * Parameters of OpenID Connect that a pushed request may carry. The authorize page ignores them, as RFC 6749 section 3.1
 * asks; the library would refuse them without the scope `openid`.
 */
const UNREAD = ['acr_values', 'claims', 'claims_locales', 'display', 'id_token_hint', 'login_hint', 'max_age', 'nonce'];

/**
 * Reads the whole form and passes its bytes to the library. The library would leave an oversized form half-read, which
 * breaks the next request on the connection. Throws `payload_too_large`.
 */
const prepareForm = async (req: IncomingMessage): Promise<void> => {
  const whole = await readBodyBytes(req, FORM_BYTES_MAX);
  const sent = req.url?.split('?', 1)[0]?.endsWith('/par') === true ? withoutUnread(whole) : whole;
  const bytes = Buffer.concat([moveClientIdFromBasic(req, sent), sent]);
  if (req.headers['content-length'] !== undefined) req.headers['content-length'] = String(bytes.length);
  Object.defineProperties(req, { readable: { value: true }, iterator: { value: () => Readable.from([bytes]) } });
};

const withoutUnread = (form: Buffer): Buffer => {
  const fields = new URLSearchParams(form.toString());
  if (!UNREAD.some((name) => fields.has(name))) return form;
  for (const name of UNREAD) fields.delete(name);
  return Buffer.from(fields.toString());
};

/** Returns true if the request named its client by HTTP Basic with an empty secret. */
const hasNamedClientByBasic = (req: IncomingMessage): boolean => namedByBasic.has(req);

/**
 * Moves the client id of an `Authorization: Basic` header without a secret into a form field. Some common libraries
 * send it for public clients: it identifies the client and proves nothing, like `client_id` (RFC 6749 section 2.3.1).
 */
const moveClientIdFromBasic = (req: IncomingMessage, form: Buffer): Buffer => {
  const encoded = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(req.headers.authorization ?? '')?.[1];
  const credentials = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString();
  const clientId = /^([A-Za-z0-9_.~%-]+):$/.exec(credentials)?.[1];
  if (clientId === undefined) return Buffer.alloc(0);
  const fields = new URLSearchParams(form.toString());
  // The library refuses the header beside a secret in the form: those are two methods.
  if (fields.getAll('client_secret').some((secret) => secret !== '')) return Buffer.alloc(0);
  delete req.headers.authorization;
  namedByBasic.add(req);
  if (fields.get('client_id') === clientId) return Buffer.alloc(0);
  return Buffer.from(`client_id=${clientId}&`);
};

/** Members that the server creates itself. */
type Made = 'readState' | 'exchange' | 'findClient' | 'polls';

export type OauthServerDeps = Omit<LibraryProviderDeps & TokenEndpointDeps, Made>;

/** Handles a request to the token, revocation, pushed-request or device authorization endpoint. Throws `payload_too_large`. */
export type OauthServer = (req: IncomingMessage, res: ServerResponse, clientAddress: string) => Promise<void>;

/** Limits of one batch and of the queue, which holds many batches. */
const BATCHING = { callsMax: 64, waitingMax: 2_048 };

/** Creates the server around the library. Concurrent token requests share both of their round trips. */
export const createOauthServer = (options: OauthServerDeps): OauthServer => {
  const { database } = options;
  const deps = {
    ...options,
    polls: createPollPacer(options.clock),
    readState: batchCalls({
      ...BATCHING,
      run: (questions: readonly TokenQuestion[]) => readTokenStates(database, questions),
    }),
    exchange: batchCalls({
      ...BATCHING,
      run: (exchanges: readonly Exchange[]) => exchangeTokens(database, exchanges),
    }),
  };
  const handle = buildHandler(deps);
  const issuer = new URL(deps.issuer);
  return async (req, res, clientAddress) => {
    noteClientAddress(req, clientAddress);
    pinHost(req, issuer);
    if (req.method === 'POST') await prepareForm(req);
    await handle(req, res);
  };
};

/** Makes the library build its URLs from the issuer, regardless of the request's headers. */
const pinHost = (req: IncomingMessage, issuer: URL): void => {
  req.headers.host = issuer.host;
  req.headers['x-forwarded-host'] = issuer.host;
  req.headers['x-forwarded-proto'] = issuer.protocol.slice(0, -1);
};

type HandlerDeps = Omit<LibraryProviderDeps & TokenEndpointDeps, 'findClient'>;
type Handler = (req: IncomingMessage, res: ServerResponse) => Promise<void>;

const buildHandler = (deps: HandlerDeps): Handler => {
  const endpoint = createTokenEndpoint(deps);
  const provider = createLibraryProvider({ ...deps, findClient: endpoint.findClient });
  endpoint.register(provider);
  /** Causes of 500s that the library has sent. */
  const failures = new WeakMap<object, unknown>();
  provider.on('server_error', (ctx, error: unknown) => failures.set(ctx, error));
  provider.use(async (ctx, next) => {
    // The library adds `oidc` to the contexts of all used routes.
    const context = ctx as unknown as KoaContextWithOIDC;
    // RFC 6749 section 5.1 requires it beside Cache-Control, for old caches.
    ctx.set('pragma', 'no-cache');
    try {
      await next();
      if (failures.has(ctx)) throw failures.get(ctx);
      if (ctx.method !== 'POST') return;
      if (ctx.path.endsWith('/token')) answerMissingFields(context, ['grant_type', 'client_id']);
      if (ctx.path.endsWith('/device_authorization')) finishDeviceAuthorization(context);
      if (ctx.path.endsWith('/revoke')) await finishRevocation(deps, context);
      // RFC 6749 section 5.2: the response names the scheme that the client used.
      if (ctx.status === 401 && hasNamedClientByBasic(ctx.req))
        ctx.set('www-authenticate', `Basic realm="${deps.issuer}"`);
    } catch (error) {
      if (error instanceof AppError) return answerLater(ctx, error);
      deps.logger.error({ err: error }, 'OAuth request failed');
      const isAway = isConnectionFailure(error);
      ctx.status = isAway ? 503 : 500;
      ctx.body = isAway ? TEMPORARILY_UNAVAILABLE : SERVER_ERROR;
    } finally {
      for (const name of LIBRARY_CORS_HEADERS) ctx.remove(name);
    }
  });
  return provider.callback();
};

/** Headers replaced by ours: the contract states which routes other origins may call. */
const LIBRARY_CORS_HEADERS = ['access-control-allow-origin', 'access-control-expose-headers', 'vary'];

/** RFC 6749 section 4.1.2.1: section 5.2 has no code for server failures. The app may retry unchanged. */
const TEMPORARILY_UNAVAILABLE = {
  error: 'temporarily_unavailable',
  error_description: 'A part of the service is unavailable for the moment. Try again.',
};
/** Refuses a request because of load, or of too many from its source. */
const answerLater = (
  ctx: { status: number; body: unknown; set: (headers: Record<string, string>) => void },
  error: AppError,
): void => {
  ctx.status = error.status;
  ctx.set({ ...error.headers });
  ctx.body = { error: 'temporarily_unavailable', error_description: error.publicMessage };
};

const SERVER_ERROR = { error: 'server_error', error_description: 'Something failed on our side. Try again.' };

/** Responds with 422 to a form that is no OAuth request (spec 2.11), regardless of other errors. */
const answerMissingFields = (ctx: KoaContextWithOIDC, required: readonly string[]): void => {
  const form = ctx.oidc.body ?? {};
  const isMissing = (name: string): boolean => form[name] === undefined || form[name] === '';
  // RFC 6749 section 2.3.1: with HTTP Basic, the header contains the client id.
  const hasBasic = /^basic(?: |$)/i.test(ctx.headers.authorization ?? '');
  const missing = required.filter((name) => isMissing(name) && !(hasBasic && name === 'client_id'));
  if (missing.length === 0) return;
  ctx.status = 422;
  ctx.body = {
    detail: missing.map((name): ValidationIssue => ({ loc: ['form', name], type: 'missing', msg: 'Field required' })),
  };
};

/** Adds the interval of polls, which the library leaves out (RFC 8628 section 3.2). */
const finishDeviceAuthorization = (ctx: KoaContextWithOIDC): void => {
  if (ctx.status === 200) Object.assign(ctx.body as object, { interval: DEVICE_POLL_SECONDS });
  answerMissingFields(ctx, ['client_id']);
};

/** Revokes an access token, which the library refuses because it stores none. Adds a JSON body to every 200. */
const finishRevocation = async (deps: HandlerDeps, ctx: KoaContextWithOIDC): Promise<void> => {
  const { client, params } = ctx.oidc;
  const token = params?.['token'];
  if (isUnsupportedToken(ctx) && client !== undefined && typeof token === 'string') {
    const grantId = await findGrantOfAccessToken(deps, token, client.clientId);
    if (grantId !== undefined) await endGrantOfRequest(deps, ctx.req, { grantId, action: 'revoked_by_app' });
    ctx.status = 200;
  }
  // RFC 7009 section 2.2 requires only the status, but common clients parse every body as JSON.
  if (ctx.status === 200) ctx.body = {};
};

const isUnsupportedToken = ({ status, body }: KoaContextWithOIDC): boolean =>
  status === 400 &&
  typeof body === 'object' &&
  body !== null &&
  'error' in body &&
  body.error === 'unsupported_token_type';
