import { serviceOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import { countDueLanes, findLaneHealth, listBlockedLanes } from './lane-health.ts';
import { type RetryBlockedDeps, retryBlockedLanes } from './retry-blocked-lanes.ts';

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
