import type { WebhookEventDetail } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { EventName } from './event.ts';
import { type EventRecord, findEventBody, listAttempts, listEventRecords } from './queries.ts';

/** Returns an event of an owner with its body and every attempt, oldest first. Throws `not_found`. */
export const getEvent = async <Name extends EventName>(
  database: Knex,
  { ownerId, eventId }: { ownerId: string; eventId: string },
): Promise<EventRecord<Name> & Pick<WebhookEventDetail, 'payload' | 'attempt_log'>> => {
  const [record] = await listEventRecords<Name>(database, { ownerId, eventId, limit: 1 });
  const body = await findEventBody(database, ownerId, eventId);
  if (record === undefined || body === undefined) throw new AppError('not_found');
  const attempts = await listAttempts(database, ownerId, record.sequence);
  return { ...record, payload: body.toString(), attempt_log: attempts };
};
