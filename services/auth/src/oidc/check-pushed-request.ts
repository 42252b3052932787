import { authorizeQuerySchema, scopes } from '@svc/contracts';
import { errors } from 'oidc-provider';

/**
 * Checks what an app pushes as the authorize page will (RFC 9126 section 2.1): the app is to hear of a mistake, and not the
 * person whose browser comes with it. Throws what the library answers.
 */
export const checkPushedRequest = (query: URLSearchParams): void => {
  const read = authorizeQuerySchema.safeParse(Object.fromEntries(query));
  if (!read.success) {
    const names = new Set(read.error.issues.map(({ path }) => String(path[0])));
    throw new errors.InvalidRequest(`missing or invalid parameter(s): ${[...names].join(', ')}`);
  }
  const known: readonly string[] = scopes;
  const unknown = read.data.scope.split(' ').filter((name) => !known.includes(name));
  if (unknown.length > 0) throw new errors.InvalidScope('requested scope does not exist', unknown.join(' '));
};
