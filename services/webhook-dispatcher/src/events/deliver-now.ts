import { type Act, AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { recordWebhookAct } from '../audit-log.ts';
import type { EventName } from './event.ts';
import { hastenLane, lockLanes } from './lane-queries.ts';
import { type EventRecord, findEventState, listEventRecords } from './queries.ts';

/**
 * Makes the lane of a queued event due at once, so that it follows in its order. An event that is being delivered stays as it
 * is. Throws `not_found` for an event of another owner, and `event_not_queued` for one in another state or behind a failed one.
 */
export const deliverNow = async <Name extends EventName>(
  database: Knex,
  { ownerId, eventId, act }: { ownerId: string; eventId: string; act: Act },
): Promise<EventRecord<Name>> =>
  await database.transaction(async (trx) => {
    await lockLanes(trx, [ownerId]);
    const event = await findEventState(trx, ownerId, eventId);
    if (event === undefined) throw new AppError('not_found');
    if (event.status !== 'queued' || !(await hastenLane(trx, ownerId))) throw new AppError('event_not_queued');
    await recordWebhookAct(trx, act, ownerId);
    const [record] = await listEventRecords<Name>(trx, { ownerId, eventId, limit: 1 });
    if (record === undefined) throw new AppError('not_found');
    return record;
  });
