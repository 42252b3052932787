import type { newId } from '@svc/contracts';
import { AppError, type Clock } from '@svc/service-kit';
import { addToRedirectUri, findAppById, holdApp } from '../apps/index.ts';
import { type Origin, openGrant } from '../connections/index.ts';
import { issueCode, newOpaqueValue } from '../oidc/index.ts';
import { holdSession } from '../sessions/index.ts';
import type { Executor, Transact } from '../transact.ts';
import { type AuthorizeRequest, checkAuthorizeRequest } from './authorize-request.ts';

export interface DecideConsentDeps {
  readonly database: Executor;
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
  readonly publicBaseUrl: string;
}

/** A decision of a signed-in person. */
export interface Decision {
  readonly userId: string;
  readonly sessionId: string;
  readonly request: AuthorizeRequest;
  readonly state: string;
  readonly origin: Origin;
}

/** The code of this decision exists: the decision was sent twice. */
export class DecidedBefore extends Error {
  override readonly name = 'DecidedBefore';
}

/**
 * Approves: creates connection, grant, code and fact in one transaction. Returns the redirect for the browser (RFC 6749
 * section 4.1.2, RFC 9207). Throws as `checkAuthorizeRequest`, `invalid_token` if the session has ended meanwhile, and
 * DecidedBefore if this code exists.
 */
export const approve = async (
  deps: DecideConsentDeps,
  { userId, sessionId, request, state, origin }: Decision,
  code: string = newOpaqueValue('authorization_code'),
): Promise<string> => {
  await deps.transact(async (trx) => {
    const held = await holdApp(trx, request.clientId);
    if (!(await holdSession(trx, { userId, sessionId }))) throw new AppError('invalid_token');
    const { app, scopes } = checkAuthorizeRequest(held, request, 'body');
    const now = deps.clock();
    const consent = { userId, clientId: app.clientId, scope: scopes.join(' '), now, origin };
    const grant = await openGrant(deps, trx, consent);
    const isNew = await issueCode(trx, { ...request, value: code, grantId: grant.id, now });
    if (!isNew) throw new DecidedBefore();
  });
  return approvalRedirect(deps, { request, state, code });
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
