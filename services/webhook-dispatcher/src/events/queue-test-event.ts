import { type Act, AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { recordWebhookAct } from '../audit-log.ts';
import { isAccount } from './event.ts';
import { lockLanes } from './lane-queries.ts';
import { type StoreDeps, storeEvents } from './store-events.ts';

const APP_TEST = {
  event: 'integration.test',
  data: { message: 'This is a test event. It was sent because the owner of the app asked for it.' },
} as const;
const ACCOUNT_TEST = { event: 'account.test', data: {} } as const;

/** Events that may wait when a test joins them. Real events have no limit, because none may be lost. */
const WAITING_MAX = 1_000;

/** Queues a test event behind the open ones and returns its id. Throws `webhook_not_configured` or `webhook_queue_full`. */
export const queueTestEvent = async (
  database: Knex,
  { ownerId, userId, act }: { ownerId: string; userId: string; act: Act },
  deps: StoreDeps,
): Promise<string> => {
  const draft = { ownerId, userId, factId: null, ...(isAccount(ownerId) ? ACCOUNT_TEST : APP_TEST) };
  return await database.transaction(async (trx) => {
    const [lane] = await lockLanes(trx, [ownerId]);
    if (lane !== undefined && lane.waiting >= WAITING_MAX) throw new AppError('webhook_queue_full');
    const [event] = await storeEvents(trx, [draft], deps);
    if (event === undefined) throw new AppError('webhook_not_configured');
    await recordWebhookAct(trx, act, ownerId);
    return event.eventId;
  });
};
