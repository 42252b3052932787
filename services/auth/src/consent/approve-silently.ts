import { AppError } from '@svc/service-kit';
import { holdApp } from '../apps/index.ts';
import { addGrant } from '../connections/index.ts';
import { issueCode, newCode } from '../oidc/index.ts';
import { holdSession } from '../sessions/index.ts';
import { checkAuthorizeRequest } from './authorize-request.ts';
import { approvalRedirect, type DecideConsentDeps, type Decision } from './decide-consent.ts';

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
