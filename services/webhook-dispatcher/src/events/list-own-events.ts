import type { OwnWebhookEvent } from '@svc/contracts';
import type { Knex } from 'knex';
import { listEventBodies } from './queries.ts';

/** Returns a page of an app's events for its receiver, ascending by sequence, from behind a sequence. */
export const listOwnEvents = async (
  database: Knex,
  { clientId, afterSequence, limit }: { clientId: string; afterSequence: number; limit: number },
): Promise<{ data: OwnWebhookEvent[]; has_more: boolean }> => {
  const events = await listEventBodies(database, { clientId, afterSequence, limit: limit + 1 });
  return { data: events.slice(0, limit), has_more: events.length > limit };
};
