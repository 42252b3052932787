import type { apiKeySchema } from '@svc/contracts';
import type { Caller, Logger } from '@svc/service-kit';
import type { z } from 'zod';
import { type ApiKey, showApiKey } from './api-key.ts';
import type { ApiKeyDeps } from './api-key-deps.ts';

interface KeysContext {
  readonly caller: Extract<Caller, { readonly userId: string }>;
  readonly requestId: string;
  readonly log: Logger;
}

type DescribeDeps = Pick<ApiKeyDeps, 'billing' | 'creatorNames' | 'clock'>;

/**
 * Maps keys of one account to their representation in the API, with this month's spending from billing and the names of their
 * creators from auth. Both are null if the service does not respond.
 */
export const describeKeys = async (
  deps: DescribeDeps,
  context: KeysContext,
  keys: readonly ApiKey[],
): Promise<z.output<typeof apiKeySchema>[]> => {
  const createdBy = keys.map((key) => key.createdBy);
  const [spending, names] = await Promise.all([
    readSpending(deps, context, keys),
    deps.creatorNames(createdBy, context),
  ]);
  const nowMs = deps.clock();
  return keys.map((key, index) =>
    showApiKey(key, {
      spentMicros: spending?.[index] ?? null,
      creatorName: names.get(key.createdBy) ?? null,
      nowMs,
    }),
  );
};

/** Maps one key likewise. */
export const describeKey = async (
  deps: DescribeDeps,
  context: KeysContext,
  key: ApiKey,
): Promise<z.output<typeof apiKeySchema>> => {
  const [described] = await describeKeys(deps, context, [key]);
  if (described === undefined) throw new Error('a key was not described');
  return described;
};

/** Reads this month's spending of keys from billing, in the given order. Returns undefined if billing does not respond. */
const readSpending = async (
  deps: Pick<ApiKeyDeps, 'billing'>,
  { caller, requestId, log }: KeysContext,
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
