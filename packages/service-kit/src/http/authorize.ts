import type { IncomingMessage } from 'node:http';
import { type RouteDefinition, sufficientScopes } from '@svc/contracts';
import { AppError } from '../app-error.ts';
import { requireRole } from '../authentication/memberships.ts';
import { DPOP_ALGORITHMS } from '../authentication/proof-of-possession.ts';
import type { Clock } from '../clock.ts';
import type { Authenticate, Authenticators, Caller, ConsoleSessionCaller, Presentation } from './binding.ts';

/** Greatest age of a person's authentication for sensitive acts. */
export interface StepUp {
  /** STEP_UP_MAX_AGE_SECONDS. */
  readonly maxAgeSeconds: number;
  readonly clock: Clock;
}

/**
 * Throws `reauthentication_required` if the person authenticated too long ago. Routes with `stepUp` check this before
 * their handler; a handler calls it where only some of its requests are sensitive.
 */
export const requireRecentAuthentication = (
  caller: { readonly authenticatedAt: Date },
  { maxAgeSeconds, clock }: StepUp,
): void => {
  const ageMs = clock().getTime() - caller.authenticatedAt.getTime();
  if (ageMs > maxAgeSeconds * 1000) throw new AppError('reauthentication_required');
};

/** Challenge for an app's id and secret (RFC 7617 section 2). */
export const BASIC_CHALLENGE = 'Basic realm="svc"';
/** Longer than any token that we issue; longer credentials are rejected unread. */
const CREDENTIAL_CHARACTERS_MAX = 8_192;

export interface AuthorizeOptions {
  readonly authenticate: Authenticators;
  /** Required if a bound route has `stepUp`. */
  readonly stepUp?: StepUp | undefined;
}

/**
 * Authenticates and authorizes the caller before the body is read. Throws `not_authenticated`, `invalid_token`,
 * `invalid_api_key`, `caller_not_allowed`, `insufficient_scope`, `business_account_required`,
 * `role_not_allowed`, `email_not_verified` or `reauthentication_required` (RFC 6750 section 3). Returns the caller for the
 * account that the route concerns. Ignores credentials in the query or body.
 */
export const authorize = async (
  route: RouteDefinition,
  { authenticate: authenticators, stepUp }: AuthorizeOptions,
  req: IncomingMessage,
): Promise<Caller> => {
  if (route.caller === 'public' || route.caller === 'oauth_public') return { kind: 'public' };
  const authenticate: Authenticate<Caller> | undefined = authenticators[route.caller];
  if (authenticate === undefined) throw new Error(`no authenticator for ${route.caller}`);
  const [scheme, credential] = readCredential(req);
  if (credential === undefined || !schemesOf(route).includes(scheme)) throw missingCredential(route);
  if (credential.length > CREDENTIAL_CHARACTERS_MAX) throw refusedCredential(route);
  const caller = await authenticate(credential, { scheme, ...requestOf(req) });
  checkInternalCaller(route, caller);
  checkManagementKey(route, caller);
  checkAccount(route, caller);
  checkScopes(route, caller);
  if (caller.kind !== 'console_session' || route.role === undefined) return caller;
  requireRole(caller.organization, route.role);
  if (route.stepUp === true) checkRecentAuthentication(caller, stepUp);
  return route.role === 'person' ? caller : { ...caller, userId: caller.organization?.id ?? caller.userId };
};

const schemes: Readonly<Record<string, Presentation['scheme']>> = { bearer: 'Bearer', dpop: 'DPoP', basic: 'Basic' };

/** Returns the schemes in which a route's credential may come. Only access tokens can be bound to a key. */
const schemesOf = ({ caller }: RouteDefinition): readonly Presentation['scheme'][] => {
  if (caller === 'client_credentials') return ['Basic'];
  return caller === 'oauth_access_token' ? ['Bearer', 'DPoP'] : ['Bearer'];
};

/** Returns scheme and credential of the `Authorization` header. */
const readCredential = (req: IncomingMessage): [Presentation['scheme'], string | undefined] => {
  const [, scheme = '', credential] =
    /^(bearer|dpop|basic) +(.+)$/i.exec(req.headers.authorization?.trim() ?? '') ?? [];
  return [schemes[scheme.toLowerCase()] ?? 'Bearer', credential];
};

const requestOf = (req: IncomingMessage): Omit<Presentation, 'scheme'> => {
  const proof = req.headers['dpop'];
  // Node joins repeated headers with commas. No valid proof contains a comma.
  return {
    method: req.method ?? '',
    path: req.url?.split('?', 1)[0] ?? '',
    proof: typeof proof === 'string' ? proof : undefined,
  };
};

const missingCredential = (route: RouteDefinition): AppError => {
  const code = route.caller === 'api_key' ? 'invalid_api_key' : 'not_authenticated';
  return new AppError(code, undefined, {
    headers: { 'www-authenticate': route.caller === 'client_credentials' ? BASIC_CHALLENGE : 'Bearer' },
  });
};

const refusedCredential = (route: RouteDefinition): AppError =>
  new AppError(route.caller === 'api_key' ? 'invalid_api_key' : 'invalid_token');

const checkInternalCaller = (route: RouteDefinition, caller: Caller): void => {
  if (caller.kind === 'service' && route.callers?.includes(caller.name) !== true) {
    throw new AppError('caller_not_allowed');
  }
};

/** A route without such a scope refuses every management key. */
const checkManagementKey = ({ managementScope }: RouteDefinition, caller: Caller): void => {
  if (caller.kind !== 'management_key') return;
  if (managementScope != null && sufficientScopes(managementScope).some((scope) => caller.scopes.has(scope))) return;
  const named = managementScope == null ? '' : `, scope="${managementScope}"`;
  throw new AppError('insufficient_scope', undefined, {
    headers: { 'www-authenticate': `Bearer error="insufficient_scope"${named}` },
  });
};

const checkAccount = (route: RouteDefinition, caller: Caller): void => {
  const account = caller.kind === 'console_session' || caller.kind === 'management_key' ? caller : undefined;
  if (route.business === true && account?.accountType !== 'business') throw new AppError('business_account_required');
  if (route.verifiedEmail === true && account?.isEmailUnverified === true) throw new AppError('email_not_verified');
};

const checkRecentAuthentication = (caller: ConsoleSessionCaller, stepUp: StepUp | undefined): void => {
  if (stepUp === undefined) throw new Error('no step-up settings');
  requireRecentAuthentication(caller, stepUp);
};

const checkScopes = (route: RouteDefinition, caller: Caller): void => {
  const wanted = route.scopes ?? [];
  if (wanted.length === 0) return;
  const granted: ReadonlySet<string> = caller.kind === 'oauth_access_token' ? caller.scopes : new Set();
  if (wanted.every((scope) => granted.has(scope))) return;
  // RFC 9449 section 7.1: the scheme in which this token is accepted.
  const isBound = caller.kind === 'oauth_access_token' && caller.keyThumbprint !== undefined;
  const challenge = `error="insufficient_scope", scope="${wanted.join(' ')}"`;
  throw new AppError('insufficient_scope', undefined, {
    headers: {
      'www-authenticate': isBound ? `DPoP ${challenge}, algs="${DPOP_ALGORITHMS.join(' ')}"` : `Bearer ${challenge}`,
    },
  });
};
