import { batchCalls } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { ApiKey } from './api-key.ts';
import { findApiKeysByHash } from './queries.ts';

const HASHES_MAX = 500;
/** A single query at a time finds this many keys within a second. */
const WAITING_MAX = 10_000;

/**
 * Creates a batched lookup of keys by hash. A flood of unknown keys costs a few queries, and valid keys do not queue
 * behind it one by one. The lookup throws `service_unavailable` if its queue is full.
 */
export const batchKeyFinds = (database: Knex): ((keyHash: Buffer) => Promise<ApiKey | undefined>) =>
  batchCalls({
    run: (keyHashes: readonly Buffer[]) => findApiKeysByHash(database, keyHashes),
    callsMax: HASHES_MAX,
    waitingMax: WAITING_MAX,
  });
