import type { Caller, Logger } from '@svc/service-kit';
import type { ApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';

interface SpendingContext {
  readonly caller: Extract<Caller, { readonly userId: string }>;
  readonly requestId: string;
  readonly log: Logger;
}

/** Reads this month's spending of keys from billing, in the given order. Returns undefined if billing does not respond. */
export const readSpending = async (
  deps: Pick<ApiKeyDeps, 'billing'>,
  { caller, requestId, log }: SpendingContext,
  keys: readonly ApiKey[],
): Promise<readonly number[] | undefined> => {
  const keyIds = keys.map(({ id }) => id);
  try {
    const spending = await deps.billing.keySpending(keyIds, { userId: caller.userId, requestId });
    return spending.spent_this_month_micros;
  } catch (error) {
    log.warn({ err: error }, 'could not read the spending of API keys from billing');
    return undefined;
  }
};
