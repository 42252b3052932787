import { serviceOperations } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { Pace } from './lanes.ts';
import { recoverEvent } from './recover-event.ts';
import type { LocalWorker } from './store-events.ts';

const PACES: readonly Pace[] = ['prompt', 'unknown', 'slow'];

interface LaneHealth {
  readonly blocked: number;
  /** Waiting time of the lane that has been due the longest. */
  readonly oldestDueSeconds: number;
}

export const findLaneHealth = async (database: Knex): Promise<LaneHealth> => {
  const due = PACES.map((pace) => `(SELECT min(due_at) FROM lanes WHERE pace = '${pace}' AND due_at <= now())`);
  const { rows } = await database.raw<{ rows: LaneHealth[] }>(
    `SELECT (SELECT count(*)::int FROM lanes WHERE blocked_sequence IS NOT NULL) AS blocked,
       coalesce(extract(epoch FROM now() - least(${due.join(', ')})), 0)::float8 AS "oldestDueSeconds"`,
  );
  return rows[0] ?? { blocked: 0, oldestDueSeconds: 0 };
};

/** Counts due lanes up to a bound. */
const countDueLanes = async (database: Knex, countedMax: number): Promise<number> => {
  const due = PACES.map((pace) => `SELECT 1 FROM lanes WHERE pace = '${pace}' AND due_at <= now()`);
  const { rows } = await database.raw<{ rows: { total: number }[] }>(
    `SELECT count(*)::int AS total FROM (${due.join(' UNION ALL ')} LIMIT ?) AS due`,
    [countedMax],
  );
  return rows[0]?.total ?? 0;
};

interface BlockedLane {
  readonly owner_id: string;
  readonly event_id: string;
  readonly sequence: number;
  /** Last attempt of the event that failed, or its creation where a paused lane has moved on to it. */
  readonly blocked_at: Date;
}

/** Returns the owners whose events wait behind a failed one, from behind the owner `after`. */
const listBlockedLanes = async (
  database: Knex,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<BlockedLane[]> => {
  const { rows } = await database.raw<{ rows: BlockedLane[] }>(
    `SELECT owner_id, event_id, blocked_sequence AS sequence,
       coalesce((SELECT max(at) FROM delivery_attempts d WHERE d.owner_id = lanes.owner_id AND d.sequence = blocked_sequence),
         to_timestamp(events.created)) AS blocked_at
     FROM lanes JOIN events USING (owner_id)
     WHERE blocked_sequence IS NOT NULL AND events.sequence = blocked_sequence AND owner_id > ?
     ORDER BY owner_id LIMIT ?`,
    [after, limit],
  );
  return rows;
};

interface RetryBlockedDeps {
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
const retryBlockedLanes = async (
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

const COUNTED_MAX = 100_000;

/** Routes of the internal port, for operators. */
export const laneOperatorRoutes = (deps: RetryBlockedDeps): Binding[] => [
  bind(serviceOperations.getLaneHealth, async ({ query: { after = '', limit } }) => {
    const { database } = deps;
    const [health, due, blocked] = await Promise.all([
      findLaneHealth(database),
      countDueLanes(database, COUNTED_MAX),
      listBlockedLanes(database, { after, limit: limit + 1 }),
    ]);
    const body = {
      due,
      oldest_due_seconds: health.oldestDueSeconds,
      blocked: health.blocked,
      data: blocked.slice(0, limit).map(({ blocked_at: _attempted, ...lane }) => lane),
      has_more: blocked.length > limit,
    };
    return { status: 200, body };
  }),
  bind(serviceOperations.retryBlockedLanes, async ({ body: { blocked_since, host, after } }) => ({
    status: 200,
    body: await retryBlockedLanes(deps, { blockedSince: new Date(blocked_since), host, after: after ?? '' }),
  })),
];
