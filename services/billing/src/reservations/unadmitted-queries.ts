import type { UsageFact } from '@svc/contracts';
import type { Knex } from 'knex';

/** Usage of a request that was never admitted. */
export interface UnadmittedUsage {
  readonly requestId: string;
  readonly eventId: string;
  readonly fact: UsageFact;
  readonly receivedAt: Date;
}

export type Resolution = 'charged' | 'discarded';

interface UnadmittedRow {
  readonly request_id: string;
  readonly event_id: string;
  readonly fact: UsageFact;
  readonly received_at: Date;
}

const selectWaiting = (database: Knex, since: Date) =>
  database<UnadmittedRow>('unadmitted_usage').whereNull('resolved_at').where('received_at', '>=', since);

const toUsage = ({ request_id, event_id, fact, received_at }: UnadmittedRow): UnadmittedUsage => ({
  requestId: request_id,
  eventId: event_id,
  fact,
  receivedAt: received_at,
});

/** Lists unadmitted usage that no operator has resolved, in the order of request ids. */
export const listUnadmitted = async (
  database: Knex,
  { since, after, limit }: { readonly since: Date; readonly after: string | undefined; readonly limit: number },
): Promise<UnadmittedUsage[]> => {
  const waiting = selectWaiting(database, since).orderBy(['request_id', 'event_id']).limit(limit);
  return (await (after === undefined ? waiting : waiting.where('request_id', '>', after))).map(toUsage);
};

/** Locks some unresolved usage until the transaction ends. */
export const lockUnadmitted = async (
  trx: Knex.Transaction,
  { since, limit }: { readonly since: Date; readonly limit: number },
): Promise<UnadmittedUsage[]> =>
  (await selectWaiting(trx, since).orderBy(['request_id', 'event_id']).limit(limit).forUpdate()).map(toUsage);

export const resolveUnadmitted = async (
  trx: Knex.Transaction,
  usage: readonly UnadmittedUsage[],
  resolution: Resolution,
): Promise<void> => {
  await trx.raw(
    `UPDATE unadmitted_usage AS u SET resolved_at = billing_now(), resolution = ?
     FROM unnest(?::text[], ?::uuid[]) AS t (request_id, event_id)
     WHERE (u.request_id, u.event_id) = (t.request_id, t.event_id)`,
    [resolution, usage.map(({ requestId }) => requestId), usage.map(({ eventId }) => eventId)],
  );
};
