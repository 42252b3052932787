import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';

/** A request for a new password, as stored. */
export interface ResetRequestRecord {
  readonly id: string;
  readonly sealedRequest: Buffer;
  readonly requestedAt: Date;
}

export const insertResetRequest = async (executor: Executor, request: ResetRequestRecord): Promise<void> => {
  await executor('password_reset_requests').insert(snakeKeys(request));
};

/** Deletes the oldest request, except those named, and returns it. Replicas get different ones. */
export const takeResetRequest = async (
  trx: Transaction,
  except: readonly string[],
): Promise<ResetRequestRecord | undefined> => {
  const oldest = trx('password_reset_requests')
    .whereNotIn('id', except)
    .orderBy('requested_at')
    .limit(1)
    .forUpdate()
    .skipLocked();
  const [row] = await trx<SnakeKeys<ResetRequestRecord>>('password_reset_requests')
    .whereIn('id', oldest.select('id'))
    .delete()
    .returning(['id', 'sealed_request', 'requested_at']);
  return row === undefined ? undefined : camelKeys(row);
};

export const hasResetRequests = async (executor: Executor): Promise<boolean> =>
  (await executor('password_reset_requests').first('id')) !== undefined;
