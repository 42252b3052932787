import { type AuthorizeQuery, authorizeQuerySchema, type Scope, scopes } from '@svc/contracts';
import { errors } from 'oidc-provider';
import { ownResources } from './server-metadata.ts';

/** A fault that is reported to the app: at its redirect URI, or when it pushes the request. */
interface ParameterFault {
  readonly error: 'invalid_request' | 'invalid_scope' | 'invalid_target' | 'request_not_supported';
  readonly description: string;
}

/** Returns the first such fault of a query (RFC 6749 section 4.1.2.1, RFC 8707 section 2). */
export const findParameterFault = (query: AuthorizeQuery, issuer: string): ParameterFault | undefined => {
  const own = ownResources(issuer);
  const prompts = query.prompt?.split(' ') ?? [];
  if (query.request !== undefined) {
    return { error: 'request_not_supported', description: 'push the request instead of signing it' };
  }
  if (query.response_mode !== undefined && query.response_mode !== 'query') {
    return { error: 'invalid_request', description: 'response_mode must be query' };
  }
  if (prompts.includes('none') && prompts.length > 1) {
    return { error: 'invalid_request', description: 'prompt none must stand alone' };
  }
  if (knownScopes(query.scope).length === 0) {
    return { error: 'invalid_scope', description: 'scope names none that exists' };
  }
  if (query.resource?.some((each) => !own.includes(each)) === true) {
    return { error: 'invalid_target', description: 'resource must be this API' };
  }
  return undefined;
};

/** Returns the known scopes of a list, without duplicates and in our order (RFC 6749 section 3.3). */
export const knownScopes = (text: string): Scope[] => {
  const names = new Set(text.split(' '));
  return scopes.filter((scope) => names.has(scope));
};

/**
 * Checks a pushed request as the authorize page will (RFC 9126 section 2.1), so that the app gets the error instead of
 * the person in the browser. Throws the library's error.
 */
export const checkPushedRequest = (query: URLSearchParams, issuer: string): void => {
  const resource = query.getAll('resource');
  const read = authorizeQuerySchema.safeParse({
    ...Object.fromEntries(query),
    resource: resource.length === 0 ? undefined : resource,
  });
  const unstorable = [...query].filter(([, value]) => value.includes('\0')).map(([name]) => name);
  if (!read.success || unstorable.length > 0) {
    const names = new Set([...unstorable, ...(read.error?.issues.map(({ path }) => String(path[0])) ?? [])]);
    throw new errors.InvalidRequest(`missing or invalid parameter(s): ${[...names].join(', ')}`);
  }
  const fault = findParameterFault(read.data, issuer);
  if (fault !== undefined) throw toLibraryError(fault, read.data.scope);
};

const toLibraryError = ({ error, description }: ParameterFault, scope: string): Error => {
  switch (error) {
    case 'invalid_request':
      return new errors.InvalidRequest(description);
    case 'invalid_scope':
      return new errors.InvalidScope(description, scope);
    case 'invalid_target':
      return new errors.InvalidTarget(description);
    case 'request_not_supported':
      return new errors.RequestNotSupported(description);
  }
};
