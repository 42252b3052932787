import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AuthorizeQuery, errorCodes, FORM_BYTES_MAX, type Locale } from '@svc/contracts';
import { type ReplyContent, readBodyBytes } from '@svc/service-kit';
import { type AppRecord, addToRedirectUri, type FetchSource, getIcon } from '../apps/index.ts';
import { findConnection, isConnected } from '../connections/index.ts';
import { findParameterFault, isPushedRequest } from '../oauth/index.ts';
import {
  ensureBrowserId,
  preferredLocale,
  readBrowserId,
  refusedFormPage,
  seeOther,
  signInPage,
  signUpPage,
} from '../pages/index.ts';
import { type BrowserSession, findBrowserSession, readPagesCookie } from '../sessions/index.ts';
import { type JudgedAuthorizeRequest, judgeAuthorizeRequest, readBudgetProposal } from './authorize-request.ts';
import { budgetForm } from './budget-form.ts';
import { authorizeConsentFrame, type ConsentFrame, consentPage } from './consent-page.ts';
import { approveSilently } from './decide-consent.ts';
import { acceptsOnlyJson, faultPage, type PageFault } from './fault-pages.ts';
import { findPublisher } from './get-consent.ts';
import {
  type AskedForm,
  type AskedQuery,
  type AskedRequest,
  authorizeFrame,
  authorizePath,
  type ConsentPageDeps,
  createPageContext,
  type PageContext,
  type PagesDeps,
  toAskedQuery,
  toAuthorizeRequest,
} from './page-context.ts';

/** A request to the authorize page. */
interface PageRequest {
  readonly query: AuthorizeQuery;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly clientAddress: string;
}

/**
 * Shows sign-in or consent. Shows faults on the page until app and redirect URI are verified; redirects later ones to
 * the app (RFC 6749 section 4.1.2.1). `prompt=none` always redirects.
 */
export const showAuthorizePage = async (deps: PagesDeps, request: PageRequest): Promise<ReplyContent> => {
  const { query: sent, req, res, clientAddress } = request;
  const query = toAskedQuery(sent);
  const isPushed = wasPushed(deps, query, req);
  const judged = await judgeQuery(deps, { query, isPushed }, clientAddress);
  const [refusal] = judged.isValid ? [] : judged.faults;
  if (refusal === 'invalid_authorization_details') return redirectError(deps, query, { error: refusal });
  if (refusal !== undefined && refusal !== 'unknown_scope') return answerFault(query.locale, refusal, req);
  const fault = findParameterFault(sent, deps.publicBaseUrl);
  if (fault !== undefined) return redirectError(deps, query, fault);
  if (!judged.isValid) throw new Error('a scope is unknown to the page alone');
  const session = await findBrowserSession(deps, readPagesCookie(req.headers.cookie, deps.publicBaseUrl));
  if (sent.prompt === 'none') return await answerSilently(deps, { query, isPushed, session });
  const browserId = ensureBrowserId(req, res, deps.publicBaseUrl);
  const context = createPageContext(deps, { app: judged.app, query, browserId, isPushed, session });
  if (session !== undefined) return await showConsent(deps, { context, session, judged });
  return wantsSignUp(sent) ? signUpPage(authorizeFrame(context)) : signInPage(authorizeFrame(context));
};

const answerSilently = async (
  deps: PagesDeps,
  { query, isPushed, session }: Omit<AskedRequest, 'browserId'> & { session: BrowserSession | undefined },
): Promise<ReplyContent> => {
  if (session === undefined) return redirectError(deps, query, { error: 'login_required' });
  const answer = await approveSilently(deps, {
    userId: session.account.id,
    sessionId: session.session.id,
    request: toAuthorizeRequest(query, isPushed),
    state: query.state,
  });
  return 'error' in answer ? redirectError(deps, query, answer) : seeOther(answer.redirectTo);
};

const redirectError = (
  deps: PagesDeps,
  query: AskedQuery,
  { error, description }: { error: string; description?: string },
): ReplyContent => {
  const described = description === undefined ? {} : { error_description: description };
  const answer = { error, ...described, state: query.state, iss: deps.publicBaseUrl };
  return seeOther(addToRedirectUri(query.redirect_uri, answer));
};

/** Checks the query of a page or form. */
export const judgeQuery = async (
  deps: PagesDeps,
  { query, isPushed }: Pick<AskedRequest, 'query' | 'isPushed'>,
  source: FetchSource,
): Promise<JudgedAuthorizeRequest> => {
  const judged = judgeAuthorizeRequest(await deps.findApp(query.client_id, source), {
    redirectUri: query.redirect_uri,
    scope: query.scope,
    isPushed,
  });
  const isMalformed = readBudgetProposal(query.authorization_details, deps) === 'malformed';
  return judged.isValid && isMalformed ? { isValid: false, faults: ['invalid_authorization_details'] } : judged;
};

/**
 * Returns true if the app pushed the request: in this request, or before the browser signed in or changed the language.
 */
const wasPushed = (deps: PagesDeps, query: AskedQuery, req: IncomingMessage): boolean => {
  if (isPushedRequest(req)) return true;
  const mark = readPushedMark(req);
  const browserId = readBrowserId(req, deps.publicBaseUrl);
  return mark !== null && browserId !== undefined && deps.pushedMarks.holds(mark, { query, browserId });
};

/** Reads the mark of a pushed request from the page's address. */
const readPushedMark = (req: IncomingMessage): string | null =>
  new URLSearchParams(req.url?.split('?', 2)[1] ?? '').get('pushed');

/** Refuses a `request_uri` that is unknown, used or expired. */
export const refuseUnknownPushedRequest = (req: IncomingMessage): ReplyContent =>
  answerFault(preferredLocale(req), 'pushed_request_unknown', req);

const answerFault = (
  locale: Locale,
  fault: Exclude<PageFault, 'unknown_scope' | 'invalid_authorization_details'>,
  req: IncomingMessage,
): ReplyContent => {
  if (!acceptsOnlyJson(req)) return faultPage(locale, fault);
  return { status: 400, body: { detail: { code: fault, message: errorCodes[fault].description } } };
};

/** Returns true for `prompt=create` (Initiating User Registration via OpenID Connect 1.0). */
const wantsSignUp = ({ prompt = '' }: AuthorizeQuery): boolean => prompt.split(' ').includes('create');

/** A consent page to show. */
interface ConsentInput {
  readonly context: PageContext;
  readonly session: BrowserSession;
  readonly judged: Pick<Extract<JudgedAuthorizeRequest, { isValid: true }>, 'app' | 'scopes'>;
  /** Submitted limit that is invalid. */
  readonly typedLimit?: string;
  /** Reason why the app is not connected yet. */
  readonly notice?: string;
}

/** Renders the consent page, or renders it again with its error. */
export const showConsent = (deps: PagesDeps, { context, ...input }: ConsentInput): Promise<ReplyContent> =>
  renderConsent(deps, {
    ...input,
    frame: authorizeConsentFrame(context),
    authorizationDetails: context.query.authorization_details,
  });

/** As `showConsent`, for any surroundings. */
export const renderConsent = async (
  deps: ConsentPageDeps,
  input: Omit<ConsentInput, 'context'> & { frame: ConsentFrame; authorizationDetails: string | undefined },
): Promise<ReplyContent> => {
  const { frame, session, judged, authorizationDetails, typedLimit, notice } = input;
  const { app, scopes } = judged;
  const key = { userId: session.account.id, clientId: app.clientId };
  const [publisher, icon, connected, connection, typicalPercent, plan] = await Promise.all([
    findPublisher(deps, app),
    getIcon(deps, app.clientId),
    isConnected(deps.database, key),
    findConnection(deps.database, key),
    scopes.includes('inference') ? deps.findTypicalUse(app.clientId) : null,
    deps.billing.readPlan(session.account.id).catch(() => undefined),
  ]);
  const form = { ...budgetForm(deps, authorizationDetails, connection), typicalPercent };
  const budget = typedLimit === undefined ? form : { ...form, typed: typedLimit };
  return consentPage(frame, { session, scopes, publisher, icon, isConnected: connected, budget, plan, notice });
};

/** A recent form of this browser, for an app that may still ask; or the refusal. */
export type ReadForm =
  | { readonly isTaken: true; readonly fields: URLSearchParams; readonly form: AskedForm; readonly app: AppRecord }
  | { readonly isTaken: false; readonly reply: ReplyContent };

/** Parses a form of the pages and checks everything in its hidden field anew. */
export const readForm = async (deps: PagesDeps, req: IncomingMessage): Promise<ReadForm> => {
  const bytes = await readBodyBytes(req, FORM_BYTES_MAX);
  const fields = new URLSearchParams(bytes.toString('utf8'));
  const read = deps.formTokens.read(fields.get('request') ?? '', readBrowserId(req, deps.publicBaseUrl));
  // No browser sends NUL, and no column of ours can hold it.
  const holdsNul = [...fields.values()].some((value) => value.includes('\0'));
  if (read === undefined || holdsNul) return { isTaken: false, reply: refusedFormPage(preferredLocale(req)) };
  const { query } = read.context;
  const judged = await judgeQuery(deps, read.context, null);
  if (!judged.isValid) return { isTaken: false, reply: faultPage(query.locale, judged.faults[0] ?? 'unknown_app') };
  // Renders the page again with a fresh form for the same request.
  if (read.isExpired) return { isTaken: false, reply: backToAuthorize(deps, read.context) };
  return { isTaken: true, fields, form: read.context, app: judged.app };
};

/**
 * Redirects back to the authorize page, at the address that the browser uses: the page's policy lets its forms lead
 * nowhere else, and the cookies of the page are there.
 */
export const backToAuthorize = (deps: PagesDeps, asked: AskedRequest): ReplyContent =>
  seeOther(authorizePath(deps, asked));
