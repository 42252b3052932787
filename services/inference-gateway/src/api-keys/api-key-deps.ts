import { internalRoutes } from '@svc/contracts';
import type { Digests } from '@svc/secrets';
import type { InternalClient, Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { BillingClient } from '../billing-client.ts';

export interface ApiKeyDeps {
  readonly database: Knex;
  /** Wakes the outbox relay. */
  readonly relay: { readonly hint: () => void };
  /** Applies a revocation in this process immediately. */
  readonly revocations: {
    readonly remember: (key: string, value?: { readonly revoked_through: string }) => void;
  };
  readonly billing: Pick<BillingClient, 'keySpending'>;
  readonly creatorNames: CreatorNames;
  readonly digests: Digests;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Returns the names of persons by their ids. A name is missing or null if auth has none, or does not respond. */
type CreatorNames = (
  userIds: readonly string[],
  context: { readonly requestId: string; readonly log: Logger },
) => Promise<ReadonlyMap<string, string | null>>;

const CACHE_MS = 60_000;
const CACHED_MAX = 10_000;
/** A list of keys without names is better than a late one. */
const TIMEOUT_MS = 300;

/** Creates a look-up of the names of creators of keys, which asks auth once for a list and keeps the names for a minute. */
export const createCreatorNames = ({
  auth,
  clock,
}: {
  readonly auth: Pick<InternalClient, 'call'>;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}): CreatorNames => {
  const cached = new Map<string, { readonly name: string | null; readonly expiresAtMs: number }>();
  const keep = (id: string, name: string | null): void => {
    cached.delete(id);
    cached.set(id, { name, expiresAtMs: clock() + CACHE_MS });
    const [oldest] = cached.keys();
    if (cached.size > CACHED_MAX && oldest !== undefined) cached.delete(oldest);
  };
  return async (userIds, { requestId, log }) => {
    const names = new Map<string, string | null>();
    const missing: string[] = [];
    for (const id of new Set(userIds)) {
      const known = cached.get(id);
      if (known !== undefined && clock() < known.expiresAtMs) names.set(id, known.name);
      else missing.push(id);
    }
    if (missing.length === 0) return names;
    const options = { requestId, timeoutMs: TIMEOUT_MS };
    try {
      const { body } = await auth.call(internalRoutes.nameAccounts, { body: { svc_user_ids: missing }, ...options });
      for (const { svc_user_id: id, name } of body.data) {
        names.set(id, name);
        keep(id, name);
      }
    } catch (error) {
      log.warn({ err: error }, 'could not read the names of creators of API keys from auth');
    }
    return names;
  };
};
