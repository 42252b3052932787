import { invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { EventName } from './event.ts';
import { findGeneration } from './lane-queries.ts';
import { type EventFilter, type EventRecord, findEventState, listEventRecords } from './queries.ts';

export interface EventPage<Name extends EventName> {
  readonly data: EventRecord<Name>[];
  readonly has_more: boolean;
  readonly generation: number | null;
}

/** Selection of a page of an owner's events. */
export interface EventSelection extends Omit<EventFilter, 'eventId'> {
  /** Id of the last event of the page before. */
  readonly after?: string | undefined;
}

/** Returns a page of the owner's events, newest first, from behind the event `after`. Throws a 422 fault if there is no such event. */
export const listEvents = async <Name extends EventName>(
  database: Knex,
  { after, ...filter }: EventSelection,
): Promise<EventPage<Name>> => {
  const { ownerId, limit, belowSequence = Number.MAX_SAFE_INTEGER } = filter;
  const last = after === undefined ? undefined : await findEventState(database, ownerId, after);
  if (after !== undefined && last === undefined) {
    throw invalidField(['query', 'after'], 'value_error', 'Value error, there is no such event');
  }
  const below = Math.min(belowSequence, last?.sequence ?? belowSequence);
  const [records, generation = null] = await Promise.all([
    listEventRecords<Name>(database, { ...filter, belowSequence: below, limit: limit + 1 }),
    findGeneration(database, ownerId),
  ]);
  return { data: records.slice(0, limit), has_more: records.length > limit, generation };
};
