import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { lockLanes } from './lane-queries.ts';
import { type StoreDeps, storeEvents } from './store-events.ts';

const MESSAGE = 'This is a test event. It was sent because the owner of the app asked for it.';

/** Events that may wait when a test joins them. Real events have no limit, because none may be lost. */
const WAITING_MAX = 1_000;

/** Queues a test event behind the open ones and returns its id. Throws `webhook_not_configured` or `webhook_queue_full`. */
export const queueTestEvent = async (
  database: Knex,
  { clientId, ownerId }: { clientId: string; ownerId: string },
  deps: StoreDeps,
): Promise<string> => {
  const draft = {
    clientId,
    userId: ownerId,
    event: 'integration.test',
    data: { message: MESSAGE },
    factId: null,
  } as const;
  const [stored] = await database.transaction(async (trx) => {
    const [lane] = await lockLanes(trx, [clientId]);
    if (lane !== undefined && lane.waiting >= WAITING_MAX) throw new AppError('webhook_queue_full');
    return await storeEvents(trx, [draft], deps);
  });
  if (stored === undefined) throw new AppError('webhook_not_configured');
  return stored.eventId;
};
