import { batchCalls } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { ApiKey } from './api-key.ts';
import { findApiKeysByHash } from './queries.ts';

const KEYS_MAX = 500;
/** A single query at a time finds this many keys within a second. */
const WAITING_MAX = 10_000;

/**
 * Creates a batched lookup of keys by their digests, one for each pepper. A flood of unknown keys costs a few queries, and valid keys do not queue
 * behind it one by one. The lookup throws `service_unavailable` if its queue is full.
 */
export const batchKeyFinds = (database: Knex): ((digests: readonly Buffer[]) => Promise<ApiKey | undefined>) =>
  batchCalls({
    run: async (keys: readonly (readonly Buffer[])[]) => {
      const found = await findApiKeysByHash(database, keys.flat());
      let start = 0;
      return keys.map(({ length }) => {
        const candidates = found.slice(start, start + length);
        start += length;
        return candidates.find((key) => key !== undefined);
      });
    },
    callsMax: KEYS_MAX,
    waitingMax: WAITING_MAX,
  });
