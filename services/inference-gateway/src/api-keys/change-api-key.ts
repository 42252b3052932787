import { keyVersionText } from '@svc/contracts';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { ApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { lockApiKey } from './queries.ts';

/**
 * Changes a key of this account and invalidates the cached copies of all replicas within a second. `write` stores the
 * result of `change`. Throws `not_found`.
 */
export const changeApiKey = async (
  deps: ApiKeyDeps,
  owned: { readonly id: string; readonly userId: string },
  {
    change,
    write,
  }: {
    readonly change: (key: ApiKey) => ApiKey;
    readonly write: (trx: Knex.Transaction, key: ApiKey) => Promise<void>;
  },
): Promise<ApiKey> => {
  const revocation = `key_version.${owned.id}`;
  const superseded = (key: ApiKey) => ({ revoked_through: keyVersionText(key.version - 1) });
  const changed = await withOutbox(deps, async (trx) => {
    const key = await lockApiKey(trx, owned);
    if (key === undefined) throw new AppError('not_found');
    const next = { ...change(key), version: key.version + 1 };
    await write(trx, next);
    await appendToOutbox(trx, { revocation: { key: revocation, value: superseded(next) } });
    return next;
  });
  deps.revocations.remember(revocation, superseded(changed));
  return changed;
};
