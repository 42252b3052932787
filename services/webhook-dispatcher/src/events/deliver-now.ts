import type { WebhookEventRecord } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { hastenLane, lockLanes } from './lane-queries.ts';
import { findEventState, listEventRecords } from './queries.ts';

/**
 * Makes the lane of a queued event due at once, so that it follows in its order. An event that is being delivered stays as it
 * is. Throws `not_found` for an event of another app, and `event_not_queued` for one in another state or behind a failed one.
 */
export const deliverNow = async (
  database: Knex,
  { clientId, eventId }: { clientId: string; eventId: string },
): Promise<WebhookEventRecord> =>
  await database.transaction(async (trx) => {
    await lockLanes(trx, [clientId]);
    const event = await findEventState(trx, clientId, eventId);
    if (event === undefined) throw new AppError('not_found');
    if (event.status !== 'queued' || !(await hastenLane(trx, clientId))) throw new AppError('event_not_queued');
    const [record] = await listEventRecords(trx, { clientId, eventId, limit: 1 });
    if (record === undefined) throw new AppError('not_found');
    return record;
  });
