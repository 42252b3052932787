import { camelKeys, snakeKeys } from '../key-case.ts';
import type { Executor } from '../transact.ts';

/** An authorization request that an app pushed, as stored. */
export interface PushedRequestRecord {
  readonly digest: Buffer;
  readonly clientId: string;
  readonly parameters: Record<string, unknown>;
  readonly expiresAt: Date;
}

/** Stores a pushed request under the digest of its `request_uri`. */
export const insertPushedRequest = async (executor: Executor, request: PushedRequestRecord): Promise<void> => {
  const parameters = JSON.stringify(request.parameters);
  await executor('pushed_requests').insert(snakeKeys({ ...request, parameters }));
};

/** Deletes a pushed request of an app and returns it. Of two concurrent callers, only one gets it. */
export const takePushedRequest = async (
  executor: Executor,
  { digest, clientId }: Pick<PushedRequestRecord, 'digest' | 'clientId'>,
): Promise<Pick<PushedRequestRecord, 'parameters' | 'expiresAt'> | undefined> => {
  const [row] = await executor('pushed_requests')
    .where({ digest, client_id: clientId })
    .delete()
    .returning<{ parameters: Record<string, unknown>; expires_at: Date }[]>(['parameters', 'expires_at']);
  return row === undefined ? undefined : camelKeys(row);
};

/** Stores a proof of possession. Returns false if it was presented before. */
export const insertProof = async (executor: Executor, proof: { digest: Buffer; expiresAt: Date }): Promise<boolean> => {
  const rows = await executor('dpop_proofs')
    .insert(snakeKeys(proof))
    .onConflict('digest')
    .ignore()
    .returning('expires_at');
  return rows.length > 0;
};

/** Deletes at most `limit` expired pushed requests, and as many expired proofs. Returns the larger number. */
export const deleteExpiredRequestsAndProofs = async (
  executor: Executor,
  before: Date,
  limit: number,
): Promise<number> => {
  const deleteFrom = async (table: 'pushed_requests' | 'dpop_proofs'): Promise<number> =>
    await executor(table)
      .whereIn('digest', executor(table).where('expires_at', '<', before).limit(limit).select('digest'))
      .delete();
  return Math.max(await deleteFrom('pushed_requests'), await deleteFrom('dpop_proofs'));
};
