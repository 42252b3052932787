import { batchCalls } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { ApiKey } from './api-key.ts';
import { findApiKeysByHash } from './queries.ts';

const HASHES_MAX = 500;
/** One query at a time answers this many within a second. */
const WAITING_MAX = 10_000;

/**
 * Finds a key by its hash, in one query with others that come together: thousands of unknown keys a second cost a few
 * queries, and a real key does not wait behind each of them. Throws `service_unavailable` if too many wait.
 */
export const batchKeyFinds = (database: Knex): ((keyHash: Buffer) => Promise<ApiKey | undefined>) =>
  batchCalls({
    run: (keyHashes: readonly Buffer[]) => findApiKeysByHash(database, keyHashes),
    callsMax: HASHES_MAX,
    waitingMax: WAITING_MAX,
  });
