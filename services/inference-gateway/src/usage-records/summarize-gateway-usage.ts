import type { routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import type { Knex } from 'knex';
import { sumGatewayUsage } from './queries.ts';

const NAMES = { key: 'key_id', model: 'model', day: 'day' } as const;

/** Sums up this account's gateway requests by key, model or day. */
export const summarizeGatewayUsage = async (
  { database }: { readonly database: Knex },
  { query, caller }: RequestContext<typeof routes.summarizeGatewayUsage>,
): Promise<Reply> => {
  const { group_by: groupBy, from, to } = query;
  const groups = await sumGatewayUsage(database, { userId: caller.userId, groupBy, from, to });
  return { status: 200, body: { data: groups.map(({ name, ...sums }) => ({ [NAMES[groupBy]]: name, ...sums })) } };
};
