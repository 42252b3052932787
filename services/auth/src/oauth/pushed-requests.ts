import { camelKeys, snakeKeys } from '@svc/database';
import type { Clock } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { digestOpaqueValue } from './codes-and-tokens.ts';

/** An authorization request that an app pushed, as stored. */
interface PushedRequestRecord {
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
const takePushedRequest = async (
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

const URN = 'urn:ietf:params:oauth:request_uri:';
const DETAILS = 'authorization_details';
/** Parameters that the authorize page reads. Excludes the claims of a pushed JWT. */
const PARAMETERS = [
  ...['redirect_uri', 'code_challenge', 'code_challenge_method', 'response_type', 'response_mode'],
  ...['state', 'scope', 'locale', 'ui_locales', 'dpop_jkt', 'prompt', 'resource'],
];

/**
 * Returns the query that an app pushed behind a `request_uri` (RFC 9126 section 4), ignoring parameters added by the
 * browser. Returns undefined if it was used, has expired or belongs to another app. An attempt by another app does not
 * use it up.
 */
export const resolvePushedRequest = async (
  deps: { database: Executor; clock: Clock },
  { clientId, requestUri }: { clientId: string; requestUri: string },
): Promise<string | undefined> => {
  // No column can be compared with NUL.
  const taken =
    requestUri.startsWith(URN) && !clientId.includes('\0')
      ? await takePushedRequest(deps.database, { digest: digestOpaqueValue(requestUri.slice(URN.length)), clientId })
      : undefined;
  if (taken === undefined || taken.expiresAt <= deps.clock()) return undefined;
  return pushedQuery(clientId, taken.parameters).toString();
};

/** Returns the pushed parameters that the authorize page reads. No others are stored. */
export const readParameters = (parameters: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(parameters).filter(([name]) => name === DETAILS || PARAMETERS.includes(name)));

/** Converts pushed parameters to a query of the authorize page. */
export const pushedQuery = (clientId: string, parameters: Readonly<Record<string, unknown>>): URLSearchParams => {
  const query = new URLSearchParams({ client_id: clientId });
  for (const name of PARAMETERS) {
    for (const value of [parameters[name]].flat()) if (typeof value === 'string') query.append(name, value);
  }
  // Already parsed by the library.
  const details = parameters[DETAILS];
  if (details !== undefined) query.set(DETAILS, JSON.stringify(details));
  return query;
};
