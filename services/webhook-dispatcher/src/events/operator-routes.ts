import { serviceOperations } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { countDueLanes, findLaneHealth, listBlockedLanes } from './lane-health.ts';

const COUNTED_MAX = 100_000;

/** Routes of the internal port, for operators. */
export const laneOperatorRoutes = ({ database }: { database: Knex }): Binding[] => [
  bind(serviceOperations.getLaneHealth, async ({ query: { after = '', limit } }) => {
    const [health, due, blocked] = await Promise.all([
      findLaneHealth(database),
      countDueLanes(database, COUNTED_MAX),
      listBlockedLanes(database, { after, limit: limit + 1 }),
    ]);
    const body = {
      due,
      oldest_due_seconds: health.oldestDueSeconds,
      blocked: health.blockedApps,
      data: blocked.slice(0, limit),
      has_more: blocked.length > limit,
    };
    return { status: 200, body };
  }),
];
