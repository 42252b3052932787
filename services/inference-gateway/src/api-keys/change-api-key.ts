import { keyVersionText } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import { type Act, AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { ApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import type { KeyScope } from './queries.ts';
import { lockApiKey } from './queries.ts';

/**
 * Changes a key within a scope and invalidates the cached copies of all replicas within a second. `write` stores the
 * result of `change`. Throws `not_found`.
 */
export const changeApiKey = async (
  deps: ApiKeyDeps,
  found: KeyScope & { readonly id: string },
  {
    act,
    change,
    write,
  }: {
    readonly act: Act;
    readonly change: (key: ApiKey) => ApiKey;
    readonly write: (trx: Knex.Transaction, key: ApiKey) => Promise<void>;
  },
): Promise<ApiKey> => {
  const revocation = `key_version.${found.id}`;
  const superseded = (key: ApiKey) => ({ revoked_through: keyVersionText(key.version - 1) });
  const changed = await withOutbox(deps, async (trx) => {
    const key = await lockApiKey(trx, found);
    if (key === undefined) throw new AppError('not_found');
    const next = { ...change(key), version: key.version + 1 };
    await write(trx, next);
    await recordAct(trx, act, { type: 'api_key', id: next.id, name: next.name });
    await appendToOutbox(trx, { revocation: { key: revocation, value: superseded(next) } });
    return next;
  });
  deps.revocations.remember(revocation, superseded(changed));
  return changed;
};
