import type { WebhookEventRecord } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { findGeneration } from './lane-queries.ts';
import { type EventFilter, findEventState, listEventRecords } from './queries.ts';

export interface EventPage {
  readonly data: readonly WebhookEventRecord[];
  readonly has_more: boolean;
  readonly generation: number | null;
}

/** Selection of a page of an app's events. */
export interface EventSelection extends Omit<EventFilter, 'eventId'> {
  /** Id of the last event of the page before. */
  readonly after?: string | undefined;
}

/** Returns a page of the app's events, newest first, from behind the event `after`. Throws a 422 fault if there is no such event. */
export const listEvents = async (database: Knex, { after, ...filter }: EventSelection): Promise<EventPage> => {
  const { clientId, limit, belowSequence = Number.MAX_SAFE_INTEGER } = filter;
  const last = after === undefined ? undefined : await findEventState(database, clientId, after);
  if (after !== undefined && last === undefined) {
    throw invalidField(['query', 'after'], 'value_error', 'Value error, there is no such event');
  }
  const below = Math.min(belowSequence, last?.sequence ?? belowSequence);
  const [records, generation = null] = await Promise.all([
    listEventRecords(database, { ...filter, belowSequence: below, limit: limit + 1 }),
    findGeneration(database, clientId),
  ]);
  return { data: records.slice(0, limit), has_more: records.length > limit, generation };
};
