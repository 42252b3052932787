import type { WebhookEventDetail } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { findEventBody, listAttempts, listEventRecords } from './queries.ts';

/** Returns an event of an app with its body and every attempt, oldest first. Throws `not_found`. */
export const getEvent = async (
  database: Knex,
  { clientId, eventId }: { clientId: string; eventId: string },
): Promise<WebhookEventDetail> => {
  const [record] = await listEventRecords(database, { clientId, eventId, limit: 1 });
  const body = await findEventBody(database, clientId, eventId);
  if (record === undefined || body === undefined) throw new AppError('not_found');
  const attempts = await listAttempts(database, clientId, record.sequence);
  return { ...record, payload: body.toString(), attempt_log: attempts };
};
