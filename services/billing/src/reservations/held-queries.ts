import { runPrepared } from '@svc/database';
import type { Knex } from 'knex';

/** Skips from holder to holder in the index of reserved requests, so the cost does not grow with their number. */
const LIST_HOLDERS = {
  name: 'list_holders',
  text: `
    WITH RECURSIVE held (holder_id) AS (
      SELECT min(holder_id) FROM reservations WHERE state = 'reserved' AND holder_id IS NOT NULL
      UNION ALL
      SELECT (SELECT min(r.holder_id) FROM reservations AS r WHERE r.state = 'reserved' AND r.holder_id > held.holder_id)
      FROM held WHERE held.holder_id IS NOT NULL)
    SELECT holder_id FROM held WHERE holder_id IS NOT NULL`,
};

/** Lists the holders of reserved requests. */
export const listHolders = async (database: Knex): Promise<string[]> => {
  const rows = await runPrepared<{ holder_id: string }>(database, LIST_HOLDERS, []);
  return rows.map(({ holder_id }) => holder_id);
};

/** Lists the ids of the holders' reserved requests that are older than `ageSeconds`, oldest first. */
export const listHeld = async (
  database: Knex,
  { holderIds, ageSeconds, limit }: { holderIds: readonly string[]; ageSeconds: number; limit: number },
): Promise<string[]> =>
  await selectReserved(database, limit)
    .whereIn('holder_id', holderIds)
    .whereRaw('created_at < (SELECT billing_now()) - make_interval(secs => ?)', [ageSeconds]);

/** Lists the ids of reserved requests that were admitted until a moment, oldest first. */
export const listReservedUntil = async (database: Knex, until: Date, limit: number): Promise<string[]> =>
  await selectReserved(database, limit).where('created_at', '<=', until);

const selectReserved = (database: Knex, limit: number) =>
  database('reservations').where({ state: 'reserved' }).orderBy('created_at').limit(limit).pluck('request_id');
