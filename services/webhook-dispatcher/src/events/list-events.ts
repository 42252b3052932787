import type { WebhookEventRecord } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { findEventState, listEventRecords } from './queries.ts';

export interface EventPage {
  readonly data: readonly WebhookEventRecord[];
  readonly has_more: boolean;
}

/** Returns a page of the app's events, newest first, from behind the event `after`. Throws a 422 fault if there is no such event. */
export const listEvents = async (
  database: Knex,
  { clientId, limit, after }: { clientId: string; limit: number; after?: string | undefined },
): Promise<EventPage> => {
  const last = after === undefined ? undefined : await findEventState(database, clientId, after);
  if (after !== undefined && last === undefined) {
    throw invalidField(['query', 'after'], 'value_error', 'Value error, there is no such event');
  }
  const records = await listEventRecords(database, { clientId, belowSequence: last?.sequence, limit: limit + 1 });
  return { data: records.slice(0, limit), has_more: records.length > limit };
};
