import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type StoreDeps, storeEvents } from './store-events.ts';

const MESSAGE = 'This is a test event. It was sent because the owner of the app asked for it.';

/** Queues a test event behind the open ones and returns its id. Throws `webhook_not_configured`. */
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
  const [stored] = await database.transaction((trx) => storeEvents(trx, [draft], deps));
  if (stored === undefined) throw new AppError('webhook_not_configured');
  return stored.eventId;
};
