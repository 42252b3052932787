import type { BudgetLimit } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import { addToRedirectUri, findAppById, holdApp } from '../apps/index.ts';
import type { Origin } from '../connections/index.ts';
import { digestOpaqueValue, findCodeState, issueCode, newCode } from '../oidc/index.ts';
import { holdSession } from '../sessions/index.ts';
import type { Executor, Transaction } from '../transact.ts';
import { type AuthorizeRequest, checkAuthorizeRequest } from './authorize-request.ts';
import { type OpenApprovedGrantDeps, openApprovedGrant } from './open-approved-grant.ts';

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
