import { internalRoutes } from '@svc/contracts';
import { createInternalClient } from '@svc/service-kit';

/** Returns the name that its owner gave to an API key. Throws if the inference gateway does not respond. */
export type FindKeyName = (key: { readonly userId: string; readonly keyId: string }) => Promise<string>;

/** A mail waits for it in a transaction. */
const TIMEOUT_MS = 2_000;

/** Creates the lookup of names of API keys, which the inference gateway holds. A key that is erased has its id for a name. */
export const createKeyNames = (options: { readonly baseUrl: string; readonly token: string }): FindKeyName => {
  const client = createInternalClient({ ...options, timeoutMs: TIMEOUT_MS });
  return async ({ userId, keyId }) => {
    const params = { svc_user_id: userId, key_id: keyId };
    return (await client.call(internalRoutes.readKeyName, { params })).body.name ?? keyId;
  };
};
