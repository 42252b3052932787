import type { Scope, ValidationIssue } from '@svc/contracts';
import { AppError, invalidRequest } from '@svc/service-kit';
import { type AppRecord, isRegisteredRedirectUri } from '../apps/index.ts';
import { parseScope } from './scope.ts';

/** What an app asks for; formally right, but nothing of it is believed before `checkAuthorizeRequest`. */
export interface AuthorizeRequest {
  clientId: string;
  redirectUri: string;
  scope: string;
  codeChallenge: string;
}

/** A request of a known, active app that may get its answer at the named redirect URI. */
export interface CheckedAuthorizeRequest {
  app: AppRecord;
  scopes: Scope[];
}

/**
 * Checks a request against its app. Throws 422 on an unknown app, a redirect URI that is not registered or an unknown
 * scope, naming the field, and `app_inactive`.
 */
export const checkAuthorizeRequest = (
  app: AppRecord | undefined,
  request: AuthorizeRequest,
  origin: 'body' | 'query',
): CheckedAuthorizeRequest => {
  const fault = (field: string, msg: string): ValidationIssue => ({ loc: [origin, field], type: 'value_error', msg });
  if (app === undefined) throw invalidRequest([fault('client_id', 'Value error, there is no such app')]);
  if (!app.active) throw new AppError('app_inactive');
  const requested = parseScope(request.scope);
  const isRegistered = isRegisteredRedirectUri(app.redirectUris, request.redirectUri, app.clientType);
  if (!isRegistered || requested === undefined) {
    throw invalidRequest([
      ...(isRegistered ? [] : [fault('redirect_uri', 'Value error, not registered for this app')]),
      ...(requested === undefined ? [fault('scope', 'Value error, names a scope that does not exist')] : []),
    ]);
  }
  return { app, scopes: requested };
};
