import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AuthorizeQuery, errorCodes, type Locale } from '@svc/contracts';
import { invalidField, type ReplyContent } from '@svc/service-kit';
import { addToRedirectUri, getIcon } from '../../apps/index.ts';
import { findConnection, isConnected } from '../../connections/index.ts';
import { isPushedRequest } from '../../oidc/index.ts';
import { type BrowserSession, findBrowserSession, readPagesCookie } from '../../sessions/index.ts';
import { type AuthorizeFault, type JudgedAuthorizeRequest, judgeAuthorizeRequest } from '../authorize-request.ts';
import { readBudgetProposal } from '../budget-proposal.ts';
import { findPublisher } from '../get-consent.ts';
import { ensureBrowserId, readBrowserId } from './browser-cookie.ts';
import { budgetForm } from './budget-form.ts';
import { consentPage } from './consent-page.ts';
import { faultPage, type PageFault } from './message-pages.ts';
import { type AskedRequest, createPageContext, type PageContext } from './page-context.ts';
import type { PagesDeps } from './pages-deps.ts';
import { preferredLocale } from './preferred-locale.ts';
import { signInPage, signUpPage } from './sign-in-page.ts';

/** A request to the authorize page. */
export interface PageRequest {
  readonly query: AuthorizeQuery;
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
}

/**
 * Shows login or consent, or why the app cannot ask. Redirects only to tell a known app, at its registered address, of malformed
 * details (RFC 9396 section 5).
 */
export const showAuthorizePage = async (deps: PagesDeps, { query, req, res }: PageRequest): Promise<ReplyContent> => {
  const isPushed = wasPushed(deps, query, req);
  const judged = await judgeQuery(deps, { query, isPushed });
  if (!judged.isValid) return refuse(deps, query, { faults: judged.faults, req });
  const session = await findBrowserSession(deps, readPagesCookie(req.headers.cookie, deps.publicBaseUrl));
  const browserId = ensureBrowserId(req, res, deps.publicBaseUrl);
  const context = createPageContext(deps, { app: judged.app, query, browserId, isPushed, session });
  if (session !== undefined) return await showConsent(deps, { context, session, judged });
  return wantsSignUp(req) ? signUpPage(context) : signInPage(context);
};

/** Judges the query that a page or a form was made from. */
export const judgeQuery = async (
  deps: PagesDeps,
  { query, isPushed }: Pick<AskedRequest, 'query' | 'isPushed'>,
): Promise<JudgedAuthorizeRequest> => {
  const judged = judgeAuthorizeRequest(await deps.findApp(query.client_id), {
    redirectUri: query.redirect_uri,
    scope: query.scope,
    isPushed,
  });
  const isMalformed = readBudgetProposal(query.authorization_details, deps.currency) === 'malformed';
  return judged.isValid && isMalformed ? { isValid: false, faults: ['invalid_authorization_details'] } : judged;
};

/** Just now, or before this browser signed in or chose another language. */
const wasPushed = (deps: PagesDeps, query: AuthorizeQuery, req: IncomingMessage): boolean => {
  if (isPushedRequest(req)) return true;
  const [mark, browserId] = [readParameter(req, 'pushed'), readBrowserId(req, deps.publicBaseUrl)];
  return mark !== null && browserId !== undefined && deps.pushedMarks.holds(mark, { query, browserId });
};

/** A parameter that belongs to the pages and is no part of what apps ask. */
const readParameter = (req: IncomingMessage, name: 'prompt' | 'pushed'): string | null =>
  new URLSearchParams(req.url?.split('?', 2)[1] ?? '').get(name);

/** Answers a `request_uri` that stands for nothing. */
export const refuseUnknownPushedRequest = (req: IncomingMessage): ReplyContent =>
  answerFault(preferredLocale(req), 'pushed_request_unknown', req);

const refuse = (
  deps: PagesDeps,
  query: AuthorizeQuery,
  { faults, req }: { readonly faults: readonly AuthorizeFault[]; readonly req: IncomingMessage },
): ReplyContent => {
  const [fault = 'unknown_app'] = faults;
  if (fault === 'invalid_authorization_details') {
    const error = { error: fault, state: query.state, iss: deps.publicBaseUrl };
    return { status: 303, headers: { location: addToRedirectUri(query.redirect_uri, error) } };
  }
  if (fault === 'unknown_scope') {
    throw invalidField(['query', 'scope'], 'value_error', 'Value error, names a scope that does not exist');
  }
  return answerFault(query.locale, fault, req);
};

const answerFault = (
  locale: Locale,
  fault: Exclude<PageFault, 'unknown_scope' | 'invalid_authorization_details'>,
  req: IncomingMessage,
): ReplyContent => {
  if (!acceptsOnlyJson(req)) return faultPage(locale, fault);
  return { status: 400, body: { detail: { code: fault, message: errorCodes[fault].description } } };
};

const acceptsOnlyJson = (req: IncomingMessage): boolean => {
  const accept = req.headers.accept ?? '*/*';
  return /\bapplication\/(\S+\+)?json\b/i.test(accept) && !/\btext\/html\b|\btext\/\*|\*\/\*/i.test(accept);
};

/** Initiating User Registration via OpenID Connect 1.0: `prompt=create`. */
const wantsSignUp = (req: IncomingMessage): boolean => readParameter(req, 'prompt') === 'create';

/** A consent page to show. */
export interface ConsentInput {
  readonly context: PageContext;
  readonly session: BrowserSession;
  readonly judged: Extract<JudgedAuthorizeRequest, { isValid: true }>;
  /** A limit that was typed and cannot be read. */
  readonly typedLimit?: string;
}

/** Shows the consent page, or shows it again. */
export const showConsent = async (deps: PagesDeps, input: ConsentInput): Promise<ReplyContent> => {
  const { context, session, judged, typedLimit } = input;
  const { app, scopes } = judged;
  const key = { userId: session.account.id, clientId: app.clientId };
  const [publisher, icon, connected, connection] = await Promise.all([
    findPublisher(deps, app),
    getIcon(deps, app.clientId),
    isConnected(deps.database, key),
    findConnection(deps.database, key),
  ]);
  const form = budgetForm(deps, context.query, connection);
  const budget = typedLimit === undefined ? form : { ...form, typed: typedLimit };
  return consentPage(context, { session, scopes, publisher, icon, isConnected: connected, budget });
};
