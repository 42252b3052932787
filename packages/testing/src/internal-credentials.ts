import { allInternalRoutes, type InternalCaller, internalCallers } from '@svc/contracts';

/** Returns the credential of a caller of internal routes. */
export const internalCredential = (caller: InternalCaller): string => `${caller}:credential-of-the-tests`;

/** Value of INTERNAL_API_TOKENS that accepts every caller. */
export const internalCredentials = internalCallers.map(internalCredential).join(',');

/** Returns the credential of the first allowed caller of a route. Throws if no internal route has this path. */
export const internalCredentialFor = (method: string, path: string): string => {
  const [bare = ''] = path.split('?', 1);
  const caller = allInternalRoutes.find((route) => route.method === method && templateOf(route.path).test(bare))
    ?.callers?.[0];
  if (caller === undefined) throw new Error(`no internal route answers ${method} ${bare}`);
  return internalCredential(caller);
};

const templateOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
