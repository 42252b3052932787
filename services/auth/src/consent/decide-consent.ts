import type { newId } from '@svc/contracts';
import { addToRedirectUri, findAppById, holdApp } from '../apps/index.ts';
import type { Clock } from '../clock.ts';
import { type Origin, openGrant } from '../connections/index.ts';
import { issueCode, newOpaqueValue } from '../oidc/index.ts';
import type { Executor, Transact } from '../transact.ts';
import { type AuthorizeRequest, checkAuthorizeRequest } from './authorize-request.ts';

/** What deciding needs. */
export interface DecideConsentDeps {
  database: Executor;
  transact: Transact;
  clock: Clock;
  newId: typeof newId;
  publicBaseUrl: string;
}

/** A decision of a signed-in person. */
export interface Decision {
  userId: string;
  request: AuthorizeRequest;
  state: string;
  origin: Origin;
}

/** The code of a decision was issued before: the decision was sent twice. */
export class DecidedBefore extends Error {
  override readonly name = 'DecidedBefore';
}

/**
 * Approves: connection, grant, code and fact come into being in one transaction. Answers where to send the browser (RFC
 * 6749 section 4.1.2, RFC 9207). Throws as `checkAuthorizeRequest`, and DecidedBefore where this code exists already.
 */
export const approve = async (
  deps: DecideConsentDeps,
  { userId, request, state, origin }: Decision,
  code: string = newOpaqueValue('authorization_code'),
): Promise<string> => {
  await deps.transact(async (trx) => {
    const held = await holdApp(trx, request.clientId);
    const { app, scopes } = checkAuthorizeRequest(held, request, 'body');
    const now = deps.clock();
    const consent = { userId, clientId: app.clientId, scope: scopes.join(' '), now, origin };
    const grant = await openGrant(deps, trx, consent);
    const isNew = await issueCode(trx, { ...request, value: code, grantId: grant.id, now });
    if (!isNew) throw new DecidedBefore();
  });
  return approvalRedirect(deps, { request, state, code });
};

/** Where an approved request goes. */
export const approvalRedirect = (
  deps: { publicBaseUrl: string },
  { request, state, code }: { request: AuthorizeRequest; state: string; code: string },
): string => addToRedirectUri(request.redirectUri, { code, state, iss: deps.publicBaseUrl });

/** Denies: nothing changes. Answers where to send the browser (RFC 6749 section 4.1.2.1). Throws as `checkAuthorizeRequest`. */
export const deny = async (
  deps: DecideConsentDeps,
  { request, state }: Omit<Decision, 'userId' | 'origin'>,
): Promise<string> => {
  checkAuthorizeRequest(await findAppById(deps.database, request.clientId), request, 'body');
  return addToRedirectUri(request.redirectUri, { error: 'access_denied', state, iss: deps.publicBaseUrl });
};
