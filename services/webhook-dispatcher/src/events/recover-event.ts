import type { WebhookEventRecord } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { lockLanes, unblockLane } from './lane-queries.ts';
import { findEventState, listEventRecords, updateRecoveredEvent } from './queries.ts';

export interface Recovery {
  readonly clientId: string;
  readonly eventId: string;
  readonly action: 'retry' | 'skip';
}

/**
 * Lifts the block of a failed event: `retry` queues it again with a new round of attempts, `skip` passes over it. Throws
 * `not_found` for an event of another app, and `event_not_failed` for an event in another state.
 */
export const recoverEvent = async (
  database: Knex,
  { clientId, eventId, action }: Recovery,
): Promise<WebhookEventRecord> =>
  await database.transaction(async (trx) => {
    await lockLanes(trx, [clientId]);
    const event = await findEventState(trx, clientId, eventId);
    if (event === undefined) throw new AppError('not_found');
    if (event.status !== 'failed') throw new AppError('event_not_failed');
    await updateRecoveredEvent(trx, eventId, action);
    await unblockLane(trx, clientId, action);
    const [record] = await listEventRecords(trx, { clientId, eventId, limit: 1 });
    if (record === undefined) throw new AppError('not_found');
    return record;
  });
