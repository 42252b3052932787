import type { routes } from '@svc/contracts';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import { AppError, type Reply, type RequestContext } from '@svc/service-kit';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { updateApiKeyDeletedAt } from './queries.ts';

/** Deletes a key. The revocation, committed in the same transaction, reaches every other process within a second. */
export const deleteApiKey = async (
  deps: ApiKeyDeps,
  { params, caller }: RequestContext<typeof routes.deleteKey>,
): Promise<Reply> => {
  const id = params.key_id;
  const revocation = `key.${id}`;
  await withOutbox(deps, async (trx) => {
    const isDeleted = await updateApiKeyDeletedAt(trx, { id, userId: caller.userId, at: new Date(deps.clock()) });
    if (!isDeleted) throw new AppError('not_found');
    await appendToOutbox(trx, { revocation: { key: revocation } });
  });
  deps.revocations.remember(revocation);
  return { status: 204 };
};
