import type { FoundManagementKey } from '@svc/contracts';
import {
  AppError,
  type Clock,
  digestManagementKey,
  type ManagementKeyCaller,
  managementKeyText,
  toManagementKeyCaller,
} from '@svc/service-kit';
import { later, MINUTE_MS } from '../time.ts';
import type { Executor } from '../transact.ts';
import { toFoundManagementKey } from './management-key.ts';
import { findManagementKeysByDigest, markManagementKeysUsed } from './queries.ts';

export interface FindManagementKeysDeps {
  readonly database: Executor;
  readonly clock: Clock;
  readonly isVerificationRequired: boolean;
}

/** Finds keys by their digests, in that order, and records their use, at most once a minute for each. */
export const findManagementKeys = async (
  deps: FindManagementKeysDeps,
  digests: readonly Buffer[],
): Promise<(FoundManagementKey | null)[]> => {
  const now = deps.clock();
  const unlessSince = later(now, -MINUTE_MS);
  const found = await findManagementKeysByDigest(deps.database, digests, now);
  const unmarked = found.flatMap((key) =>
    key !== undefined && (key.lastUsedAt === null || key.lastUsedAt < unlessSince) ? [key.id] : [],
  );
  if (unmarked.length > 0) await markManagementKeysUsed(deps.database, unmarked, { now, unlessSince });
  return found.map((key) => (key === undefined ? null : toFoundManagementKey(key, deps)));
};

/** Authenticates a management key. Reads its table, so that it refuses a deleted one at once. Throws `invalid_token`. */
export const authenticateManagementKey = async (
  deps: FindManagementKeysDeps,
  text: string,
): Promise<ManagementKeyCaller> => {
  if (!managementKeyText.isWellFormed(text)) throw new AppError('invalid_token');
  const [found] = await findManagementKeys(deps, [digestManagementKey(text)]);
  if (found == null) throw new AppError('invalid_token');
  return toManagementKeyCaller(found);
};
