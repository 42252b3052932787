import { type Act, AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { recordWebhookAct } from '../audit-log.ts';
import type { EventName } from './event.ts';
import { lockLanes, unblockLane } from './lanes.ts';
import { type EventRecord, findEventState, listEventRecords, updateRecoveredEvent } from './queries.ts';

export interface Recovery {
  readonly ownerId: string;
  readonly eventId: string;
  readonly action: 'retry' | 'skip';
  /** Undefined for an operator, whose retries are in no organization's log. */
  readonly act?: Act;
}

/**
 * Lifts the block of a failed event: `retry` queues it again with a new round of attempts, `skip` passes over it. Throws
 * `not_found` for an event of another owner, and `event_not_failed` for an event in another state.
 */
export const recoverEvent = async <Name extends EventName>(
  database: Knex,
  { ownerId, eventId, action, act }: Recovery,
): Promise<EventRecord<Name>> =>
  await database.transaction(async (trx) => {
    await lockLanes(trx, [ownerId]);
    const event = await findEventState(trx, ownerId, eventId);
    if (event === undefined) throw new AppError('not_found');
    if (event.status !== 'failed') throw new AppError('event_not_failed');
    await updateRecoveredEvent(trx, eventId, action);
    await unblockLane(trx, ownerId, action);
    if (act !== undefined) await recordWebhookAct(trx, act, ownerId);
    const [record] = await listEventRecords<Name>(trx, { ownerId, eventId, limit: 1 });
    if (record === undefined) throw new AppError('not_found');
    return record;
  });
