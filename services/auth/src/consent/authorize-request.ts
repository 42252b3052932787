import type { Scope, ValidationIssue } from '@svc/contracts';
import { AppError, invalidRequest } from '@svc/service-kit';
import { type AppRecord, isRegisteredRedirectUri } from '../apps/index.ts';
import { parseScope } from './scope.ts';

/** An app's request: well-formed, but unchecked. */
export interface AuthorizeRequest {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly scope: string;
  readonly codeChallenge: string;
  /** Thumbprint of the key that the code is bound to, if the app names one (RFC 9449 section 10). */
  readonly dpopThumbprint: string | undefined;
  /** True if the app pushed the request (RFC 9126); false if it came in the browser's URL. */
  readonly isPushed: boolean;
}

/** Reasons to refuse a request before the user sees it. */
export type AuthorizeFault =
  | 'unknown_app'
  | 'app_inactive'
  | 'pushed_request_required'
  | 'redirect_uri_not_registered'
  | 'unknown_scope'
  | 'invalid_authorization_details';

/** A request of a known, active app with a registered redirect URI, or its fault. */
export type JudgedAuthorizeRequest =
  | { readonly isValid: true; readonly app: AppRecord; readonly scopes: Scope[] }
  | { readonly isValid: false; readonly faults: readonly AuthorizeFault[] };

/** Checks a request against its app. */
export const judgeAuthorizeRequest = (
  app: AppRecord | undefined,
  request: Pick<AuthorizeRequest, 'redirectUri' | 'scope' | 'isPushed'>,
): JudgedAuthorizeRequest => {
  if (app === undefined) return { isValid: false, faults: ['unknown_app'] };
  if (!app.active) return { isValid: false, faults: ['app_inactive'] };
  if (app.requirePushedAuthorizationRequests && !request.isPushed)
    return { isValid: false, faults: ['pushed_request_required'] };
  const scopes = parseScope(request.scope);
  const isRegistered = isRegisteredRedirectUri(app.redirectUris, request.redirectUri);
  if (isRegistered && scopes !== undefined) return { isValid: true, app, scopes };
  return {
    isValid: false,
    faults: [
      ...(isRegistered ? [] : ['redirect_uri_not_registered' as const]),
      ...(scopes === undefined ? ['unknown_scope' as const] : []),
    ],
  };
};

const messages = {
  invalid_authorization_details: ['authorization_details', 'Value error, malformed'],
  unknown_app: ['client_id', 'Value error, there is no such app'],
  redirect_uri_not_registered: ['redirect_uri', 'Value error, not registered for this app'],
  unknown_scope: ['scope', 'Value error, names a scope that does not exist'],
} as const;

/** As `judgeAuthorizeRequest`, but throws 422 with the invalid fields, `app_inactive` or `pushed_request_required`. */
export const checkAuthorizeRequest = (
  app: AppRecord | undefined,
  request: AuthorizeRequest,
  origin: 'body' | 'query',
): { app: AppRecord; scopes: Scope[] } => {
  const judged = judgeAuthorizeRequest(app, request);
  if (judged.isValid) return judged;
  throw invalidRequest(judged.faults.map((fault) => toIssue(fault, origin)));
};

const toIssue = (fault: AuthorizeFault, origin: 'body' | 'query'): ValidationIssue => {
  if (fault === 'app_inactive' || fault === 'pushed_request_required') throw new AppError(fault);
  const [field, msg] = messages[fault];
  return { loc: [origin, field], type: 'value_error', msg };
};
