import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type BlockedLane, listBlockedLanes } from './lane-health.ts';
import { recoverEvent } from './recover-event.ts';
import type { LocalWorker } from './store-events.ts';

export interface RetryBlockedDeps {
  readonly database: Knex;
  readonly worker: Pick<LocalWorker, 'hint'>;
  /** Lists the URLs of owners. */
  readonly listUrls: (
    ownerIds: readonly string[],
  ) => Promise<readonly { readonly ownerId: string; readonly url: string }[]>;
}

/** Lanes looked at by one call. */
const PAGE = 200;

/**
 * Retries the events that block lanes since a moment, for an operator who has caused the failures: of one receiver's host, or of
 * all. Returns the retried events, and the last owner of the page if there may be more.
 */
export const retryBlockedLanes = async (
  deps: RetryBlockedDeps,
  { blockedSince, host, after }: { readonly blockedSince: Date; readonly host: string | null; readonly after: string },
) => {
  const page = await listBlockedLanes(deps.database, { after, limit: PAGE });
  const urls = new Map(
    (await deps.listUrls(page.map(({ owner_id }) => owner_id))).map((row) => [row.ownerId, row.url]),
  );
  const isMeant = ({ owner_id, blocked_at }: BlockedLane): boolean =>
    blocked_at >= blockedSince && (host === null || URL.parse(urls.get(owner_id) ?? '')?.hostname === host);
  const data = [];
  for (const { owner_id, event_id } of page.filter(isMeant)) {
    if (await retry(deps.database, { ownerId: owner_id, eventId: event_id })) data.push({ owner_id, event_id });
  }
  if (data.length > 0) deps.worker.hint();
  return { data, after: page.length === PAGE ? (page.at(-1)?.owner_id ?? null) : null };
};

/** Returns false if the owner has recovered the event meanwhile. */
const retry = async (database: Knex, event: { ownerId: string; eventId: string }): Promise<boolean> => {
  try {
    await recoverEvent(database, { ...event, action: 'retry' });
    return true;
  } catch (error) {
    if (error instanceof AppError && (error.code === 'event_not_failed' || error.code === 'not_found')) return false;
    throw error;
  }
};
