import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AuthorizeQuery, errorCodes, type Locale } from '@svc/contracts';
import type { ReplyContent } from '@svc/service-kit';
import { addToRedirectUri, getIcon } from '../../apps/index.ts';
import type { FetchSource } from '../../client-documents/index.ts';
import { findConnection, isConnected } from '../../connections/index.ts';
import { findParameterFault, isPushedRequest } from '../../oidc/index.ts';
import { type BrowserSession, findBrowserSession, readPagesCookie } from '../../sessions/index.ts';
import { approveSilently } from '../approve-silently.ts';
import { type JudgedAuthorizeRequest, judgeAuthorizeRequest } from '../authorize-request.ts';
import { readBudgetProposal } from '../budget-proposal.ts';
import { findPublisher } from '../get-consent.ts';
import { acceptsOnlyJson } from './accepted-type.ts';
import { type AskedQuery, toAskedQuery, toAuthorizeRequest } from './asked-query.ts';
import { ensureBrowserId, readBrowserId } from './browser-cookie.ts';
import { budgetForm } from './budget-form.ts';
import { authorizeConsentFrame, type ConsentFrame, consentPage } from './consent-page.ts';
import { faultPage, type PageFault } from './message-pages.ts';
import { type AskedRequest, createPageContext, type PageContext } from './page-context.ts';
import type { ConsentPageDeps, PagesDeps } from './pages-deps.ts';
import { preferredLocale } from './preferred-locale.ts';
import { seeOther } from './see-other.ts';
import { authorizeFrame } from './sign-in-frame.ts';
import { signInPage, signUpPage } from './sign-in-page.ts';

/** A request to the authorize page. */
export interface PageRequest {
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
export interface ConsentInput {
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
