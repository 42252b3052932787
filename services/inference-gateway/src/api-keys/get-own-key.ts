import type { routes } from '@svc/contracts';
import { AppError, type Reply, type RequestContext } from '@svc/service-kit';
import { showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';
import { findApiKey } from './queries.ts';

/** Returns the key that authenticated the request, with the available balance of its wallet. */
export const getOwnKey = async (
  deps: ApiKeyDeps,
  { caller, requestId }: RequestContext<typeof routes.getOwnKey>,
): Promise<Reply> => {
  const [key, spending] = await Promise.all([
    findApiKey(deps.database, caller.keyId),
    deps.billing.keySpending([caller.keyId], { userId: caller.userId, requestId }),
  ]);
  if (key === undefined) throw new AppError('invalid_api_key');
  const [spentMicros = 0] = spending.spent_this_month_micros;
  return { status: 200, body: { ...showApiKey(key, { spentMicros, nowMs: deps.clock() }), wallet: spending.wallet } };
};
