import { authorizeQuerySchema } from '@svc/contracts';
import { errors } from 'oidc-provider';
import { findParameterFault, type ParameterFault } from './parameter-fault.ts';

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
