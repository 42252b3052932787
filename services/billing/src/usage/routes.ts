import { internalRoutes, routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import {
  readAccountUsage,
  readEntitlements,
  readIntegrationUsage,
  readRequestStates,
  readRequestUsage,
  readUsage,
  readUsageHistory,
  type UsageDeps,
} from './read-usage.ts';
import { findTypicalUse, type MemberUsageDeps, summarizeMemberUsage } from './summarize-use.ts';

/** Below this, a median could say too much about single people. */
const USERS_MIN = 20;

/** Reads how much of a week's plan an app typically uses, in whole percent. Null if too few people use it. */
const readTypicalUse = async (database: Knex, clientId: string): Promise<{ week_share_percent: number | null }> => {
  const { users, medianShare } = await findTypicalUse(database, clientId);
  const isKnown = users >= USERS_MIN && medianShare !== null;
  return { week_share_percent: isKnown ? Math.round(medianShare * 100) : null };
};

/** Binds the public routes of usage. */
export const usageRoutes = (deps: UsageDeps & MemberUsageDeps): Binding[] => [
  bind(routes.summarizeMemberUsage, async ({ caller, query }) => ({
    status: 200,
    body: await summarizeMemberUsage(deps, caller.userId, query),
  })),
  bind(routes.getSubscriptionUsage, async ({ caller }) => ({
    status: 200,
    body: await readUsage(deps, caller.userId),
  })),
  bind(routes.getUsageHistory, async ({ caller, query }) => ({
    status: 200,
    body: await readUsageHistory(deps.database, caller.userId, query.days),
  })),
  bind(routes.getIntegrationUsage, async ({ caller }) => ({
    status: 200,
    body: await readIntegrationUsage(deps, caller),
  })),
  bind(routes.getRequestUsage, async ({ caller, params }) => ({
    status: 200,
    body: await readRequestUsage(deps.database, params.request_id, caller),
  })),
];

/** Binds the internal routes of usage. */
export const usageInternalRoutes = (deps: UsageDeps): Binding[] => [
  bind(internalRoutes.readRequestStates, async ({ body }) => ({
    status: 200,
    body: { states: await readRequestStates(deps.database, body.svc_user_id, body.request_ids) },
  })),
  bind(internalRoutes.getEntitlements, async ({ params }) => ({
    status: 200,
    body: { services: await readEntitlements(deps, params.svc_user_id) },
  })),
  bind(internalRoutes.readAccountUsage, async ({ params }) => ({
    status: 200,
    body: await readAccountUsage(deps, params.svc_user_id),
  })),
  bind(internalRoutes.readTypicalUse, async ({ params }) => ({
    status: 200,
    body: await readTypicalUse(deps.database, params.client_id),
  })),
];
