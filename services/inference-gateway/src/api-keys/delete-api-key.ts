import type { routes } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import { AppError, type Reply, type RequestContext } from '@svc/service-kit';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { keyScopeOf } from './key-scope.ts';
import { lockApiKey, updateApiKeyDeletedAt } from './queries.ts';

/** Deletes a key. The revocation, committed in the same transaction, reaches every other process within a second. */
export const deleteApiKey = async (
  deps: ApiKeyDeps,
  { act, params, caller }: RequestContext<typeof routes.deleteKey>,
): Promise<Reply> => {
  const id = params.key_id;
  const revocation = `key.${id}`;
  await withOutbox(deps, async (trx) => {
    const key = await lockApiKey(trx, { id, ...keyScopeOf(caller) });
    if (key === undefined) throw new AppError('not_found');
    await updateApiKeyDeletedAt(trx, id, new Date(deps.clock()));
    await recordAct(trx, act, { type: 'api_key', id, name: key.name });
    await appendToOutbox(trx, { revocation: { key: revocation } });
  });
  deps.revocations.remember(revocation);
  return { status: 204 };
};
