import type { Executor } from '../transact.ts';

/** An authorization request that an app pushed, as stored. */
export interface PushedRequestRecord {
  digest: Buffer;
  clientId: string;
  parameters: Record<string, unknown>;
  expiresAt: Date;
}

/** Stores a pushed request under the digest of its `request_uri`. */
export const insertPushedRequest = async (executor: Executor, request: PushedRequestRecord): Promise<void> => {
  await executor('pushed_requests').insert({
    digest: request.digest,
    client_id: request.clientId,
    parameters: JSON.stringify(request.parameters),
    expires_at: request.expiresAt,
  });
};

/** Takes a pushed request of an app out, for good: of two parallel callers, one gets it. */
export const takePushedRequest = async (
  executor: Executor,
  { digest, clientId }: Pick<PushedRequestRecord, 'digest' | 'clientId'>,
): Promise<Pick<PushedRequestRecord, 'parameters' | 'expiresAt'> | undefined> => {
  const [row] = await executor('pushed_requests')
    .where({ digest, client_id: clientId })
    .delete()
    .returning<{ parameters: Record<string, unknown>; expires_at: Date }[]>(['parameters', 'expires_at']);
  return row === undefined ? undefined : { parameters: row.parameters, expiresAt: row.expires_at };
};

/** Stores a proof of possession; returns false if it was presented before. */
export const insertProof = async (executor: Executor, proof: { digest: Buffer; expiresAt: Date }): Promise<boolean> => {
  const rows = await executor('dpop_proofs')
    .insert({ digest: proof.digest, expires_at: proof.expiresAt })
    .onConflict('digest')
    .ignore()
    .returning('expires_at');
  return rows.length > 0;
};

/** Removes at most `limit` pushed requests and as many proofs that expired before an instant; returns the greater number. */
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
