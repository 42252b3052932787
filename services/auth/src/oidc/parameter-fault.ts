import { type AuthorizeQuery, type Scope, scopes } from '@svc/contracts';
import { ownResources } from './own-resources.ts';

/** A fault that is reported to the app: at its redirect URI, or when it pushes the request. */
export interface ParameterFault {
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
