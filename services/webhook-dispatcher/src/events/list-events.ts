import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { EventRecord } from './event.ts';
import { findEventState, listEventRecords } from './queries.ts';

/** One page of an app's events. */
export interface EventPage {
  readonly records: readonly EventRecord[];
  readonly hasMore: boolean;
}

/** Reads a page, newest first, from behind the event `after`. Throws a 422 fault where the app has no such event. */
export const listEvents = async (
  database: Knex,
  { clientId, limit, after }: { clientId: string; limit: number; after?: string | undefined },
): Promise<EventPage> => {
  const last = after === undefined ? undefined : await findEventState(database, clientId, after);
  if (after !== undefined && last === undefined) {
    throw invalidField(['query', 'after'], 'value_error', 'Value error, there is no such event');
  }
  const records = await listEventRecords(database, { clientId, belowSequence: last?.sequence, limit: limit + 1 });
  return { records: records.slice(0, limit), hasMore: records.length > limit };
};
