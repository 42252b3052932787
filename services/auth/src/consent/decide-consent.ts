import type { BudgetLimit } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { findAccountById } from '../accounts/index.ts';
import { addToRedirectUri, findAppById, holdApp } from '../apps/index.ts';
import type { BillingClient } from '../billing-client.ts';
import { type Origin, openGrant } from '../connections/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { issueCode, newOpaqueValue } from '../oidc/index.ts';
import { holdSession } from '../sessions/index.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { type AuthorizeRequest, checkAuthorizeRequest } from './authorize-request.ts';

export interface DecideConsentDeps extends MailOutboxDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly publicBaseUrl: string;
  readonly billing: Pick<BillingClient, 'changeTerms'>;
}

/** A decision of a signed-in person. */
export interface Decision {
  readonly userId: string;
  readonly sessionId: string;
  readonly request: AuthorizeRequest;
  readonly state: string;
  /** Limit of the app's use of the plan; null for none, undefined to leave it as it is. */
  readonly budget: BudgetLimit | null | undefined;
  readonly origin: Origin;
}

/** Thrown if the decision was sent twice, so that its code exists already. */
export class DecidedBefore extends Error {
  override readonly name = 'DecidedBefore';
}

/**
 * Approves a request: creates connection, grant, code and fact in one transaction. Billing gets the budget before the
 * commit, so that it applies to the first request. Returns the redirect for the browser (RFC 6749 section 4.1.2, RFC
 * 9207). Throws as `checkAuthorizeRequest`, `invalid_token` if the session has ended meanwhile, `service_unavailable`
 * if billing does not respond, and DecidedBefore if the code exists.
 */
export const approve = async (
  deps: DecideConsentDeps,
  { userId, sessionId, request, state, budget, origin }: Decision,
  code: string = newOpaqueValue('authorization_code'),
): Promise<string> => {
  await deps.transact(async (trx) => {
    const held = await holdApp(trx, request.clientId);
    if (!(await holdSession(trx, { userId, sessionId }))) throw new AppError('invalid_token');
    const { app, scopes } = checkAuthorizeRequest(held, request, 'body');
    const now = deps.clock();
    const consent = { userId, clientId: app.clientId, scope: scopes.join(' '), now, budget, origin };
    const { grant, isNew: isNewApp, termsChange } = await openGrant(deps, trx, consent);
    const isNew = await issueCode(trx, { ...request, value: code, grantId: grant.id, now });
    if (!isNew) throw new DecidedBefore();
    if (isNewApp) await mailConnectedApp(deps, trx, { userId, appName: app.name });
    if (termsChange !== undefined) await deps.billing.changeTerms(consent, termsChange);
  });
  return approvalRedirect(deps, { request, state, code });
};

const mailConnectedApp = async (
  deps: MailOutboxDeps,
  trx: Transaction,
  { userId, appName }: { userId: string; appName: string },
): Promise<void> => {
  const account = await findAccountById(trx, userId);
  if (account === undefined) return;
  const { email: to, locale } = account;
  await enqueueMail(deps, trx, { kind: 'app_connected', userId, to, locale, data: { appName } });
};

/** Returns the redirect of an approved request. */
export const approvalRedirect = (
  deps: { publicBaseUrl: string },
  { request, state, code }: { request: AuthorizeRequest; state: string; code: string },
): string => addToRedirectUri(request.redirectUri, { code, state, iss: deps.publicBaseUrl });

/** Returns the redirect of a denied request (RFC 6749 section 4.1.2.1); stores nothing. Throws as `checkAuthorizeRequest`. */
export const deny = async (
  deps: DecideConsentDeps,
  { request, state }: Pick<Decision, 'request' | 'state'>,
): Promise<string> => {
  checkAuthorizeRequest(await findAppById(deps.database, request.clientId), request, 'body');
  return addToRedirectUri(request.redirectUri, { error: 'access_denied', state, iss: deps.publicBaseUrl });
};
