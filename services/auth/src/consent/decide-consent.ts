import type { BudgetLimit, Scope } from '@svc/contracts';
import { snakeKeys } from '@svc/database';
import { AppError } from '@svc/service-kit';
import { findAccountById } from '../accounts/index.ts';
import { type AppRecord, addToRedirectUri, findAppById, holdApp, isOwned } from '../apps/index.ts';
import type { BillingClient } from '../billing-client.ts';
import { addGrant, type Origin, openGrant, planTerms, type TermsTurns } from '../connections/index.ts';
import { enqueueMail, type MailOutboxDeps } from '../mail/index.ts';
import { digestOpaqueValue, findCodeState, issueCode, newCode } from '../oauth/index.ts';
import { holdSession } from '../sessions/index.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { type AuthorizeRequest, checkAuthorizeRequest } from './authorize-request.ts';

export interface OpenApprovedGrantDeps extends MailOutboxDeps {
  readonly transact: Transact;
  readonly billing: Pick<BillingClient, 'changeTerms'>;
  readonly termsTurns: TermsTurns;
}

/** Approval of a signed-in person. */
interface Approval {
  readonly userId: string;
  readonly clientId: string;
  /** Limit of the app's use of the plan; null for none, undefined to leave it as it is. */
  readonly budget: BudgetLimit | null | undefined;
  readonly origin: Origin;
  /** Null for a consent in a browser. */
  readonly deviceName: string | null;
  /** Holds app, session and request until the transaction ends. Throws if one of them no longer allows the approval. */
  readonly check: (trx: Transaction) => Promise<{ readonly app: AppRecord; readonly scopes: readonly Scope[] }>;
  /** Issues what the app gets for the grant. */
  readonly issue: (trx: Transaction, grantId: string) => Promise<void>;
}

/**
 * Creates connection, grant, fact and what the app gets in one transaction. Billing gets the budget before that
 * transaction, so that it applies to the first request and no lock waits for billing; a budget without a grant is
 * harmless. Throws as `check` and `issue`, and `service_unavailable` if billing does not respond.
 */
export const openApprovedGrant = async (deps: OpenApprovedGrantDeps, approval: Approval): Promise<void> => {
  const { userId, clientId, budget, origin, deviceName, check, issue } = approval;
  const key = { userId, clientId };
  await deps.termsTurns.run(key, async () => {
    const terms = await deps.transact(async (trx) => {
      await check(trx);
      return await planTerms(trx, { ...key, budget });
    });
    if (terms.change !== undefined) await deps.billing.changeTerms(key, terms.change);
    await deps.transact(async (trx) => {
      const { app, scopes } = await check(trx);
      const given = { scope: scopes.join(' '), now: deps.clock(), deviceName };
      const { grant, isNew } = await openGrant(deps, trx, { ...key, ...given, budget, terms, origin });
      await issue(trx, grant.id);
      if (isNew) await mailConnectedApp(deps, trx, { userId, appName: nameInMail(app) });
    });
  });
};

/** Returns the app's name. That of an unregistered one is its own claim, so its host stands beside it. */
const nameInMail = (app: AppRecord): string =>
  isOwned(app) ? app.name : `${app.name} (${new URL(app.clientId).host})`;

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

export interface DecideConsentDeps extends OpenApprovedGrantDeps {
  readonly database: Executor;
  readonly publicBaseUrl: string;
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
 * Approves a request. Returns the redirect for the browser (RFC 6749 section 4.1.2, RFC 9207). Throws as
 * `checkAuthorizeRequest`, `invalid_token` if the session has ended meanwhile, `service_unavailable` if billing does not
 * respond, and DecidedBefore if the code exists.
 */
export const approve = async (
  deps: DecideConsentDeps,
  decision: Decision,
  code: string = newCode(),
): Promise<string> => {
  const { userId, request, state, budget, origin } = decision;
  await openApprovedGrant(deps, {
    userId,
    clientId: request.clientId,
    budget,
    origin,
    deviceName: null,
    check: async (trx) => {
      const checked = await checkDecision(trx, decision);
      if ((await findCodeState(trx, digestOpaqueValue(code))) !== undefined) throw new DecidedBefore();
      return checked;
    },
    issue: async (trx, grantId) => {
      if (!(await issueCode(trx, { ...request, value: code, grantId }))) throw new DecidedBefore();
    },
  });
  return approvalRedirect(deps, { request, state, code });
};

/** Holds app and session until the transaction ends, so that no suspension and no sign-out interleaves. */
const checkDecision = async (trx: Transaction, { userId, sessionId, request }: Decision) => {
  const held = await holdApp(trx, request.clientId);
  if (!(await holdSession(trx, { userId, sessionId }))) throw new AppError('invalid_token');
  return checkAuthorizeRequest(held, request, 'body');
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

/**
 * Issues a code without asking if the person's connection covers the scope (OpenID Connect Core 3.1.2.1,
 * `prompt=none`). Returns the redirect with the code, or with the error for the app.
 */
export const approveSilently = async (
  deps: DecideConsentDeps,
  { userId, sessionId, request, state }: Omit<Decision, 'origin' | 'budget'>,
): Promise<{ redirectTo: string } | { error: 'login_required' | 'consent_required' }> => {
  const code = newCode();
  const error = await deps.transact(async (trx) => {
    const held = await holdApp(trx, request.clientId);
    if (!(await holdSession(trx, { userId, sessionId }))) return 'login_required';
    const { app, scopes } = checkAuthorizeRequest(held, request, 'query');
    const now = deps.clock();
    const grant = await addGrant(deps, trx, { userId, clientId: app.clientId, scope: scopes.join(' '), now });
    if (grant === undefined) return 'consent_required';
    const isNew = await issueCode(trx, { ...request, value: code, grantId: grant.id });
    if (!isNew) throw new AppError('internal_error', undefined, { cause: new Error('a random code was issued twice') });
    return undefined;
  });
  return error === undefined ? { redirectTo: approvalRedirect(deps, { request, state, code }) } : { error };
};

/** Stores that a form was denied, for the lifetime of the form. */
export const insertDeniedForm = async (
  executor: Executor,
  form: { readonly digest: Buffer; readonly expiresAt: Date },
): Promise<void> => {
  await executor('denied_forms').insert(snakeKeys(form)).onConflict('digest').ignore();
};

/** Returns true if a form was denied, under any of its digests. */
export const isDeniedForm = async (executor: Executor, digests: readonly Buffer[]): Promise<boolean> =>
  (await executor('denied_forms').whereIn('digest', digests).first('digest')) !== undefined;

/** Deletes at most `limit` denials of forms that expired before the given time. Returns the number. */
export const deleteDeniedFormsBefore = async (executor: Executor, before: Date, limit: number): Promise<number> =>
  await executor('denied_forms')
    .whereIn('digest', executor('denied_forms').where('expires_at', '<', before).limit(limit).select('digest'))
    .delete();
