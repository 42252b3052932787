import { routes } from '@svc/contracts';
import { AppError, type Binding, bind, type Reply, type RequestContext } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { BillingClient } from '../billing-client.ts';
import { listGatewayUsage, type UsageListDeps } from './list-gateway-usage.ts';
import { isRecordedFor, type RequestOwner, sumGatewayUsage } from './queries.ts';
import type { UsageWriter } from './usage-writer.ts';

/**
 * Reads the receipt of an API-key request. Throws `not_found`, `not_settled` while it runs or its outcome is on its way, or
 * `service_unavailable`. Billing knows a request once it has settled it; until then, only its gateway does.
 */
const readGatewayReceipt = async (
  { database, billing, usage }: UsageRoutesDeps,
  owner: RequestOwner,
  requestId: string,
): Promise<string> => {
  const request = { request_id: requestId, svc_user_id: owner.userId, key_id: owner.keyId };
  const unwritten = usage.find(requestId);
  const isTheirs =
    unwritten?.identity.userId === owner.userId && (owner.keyId === null || unwritten.identity.keyId === owner.keyId);
  if (isTheirs && !unwritten.hasEnded)
    throw new AppError('not_settled', undefined, { headers: { 'Retry-After': '1' } });
  try {
    return await billing.signReceipt({ ...request, has_ended: isTheirs });
  } catch (error) {
    const isUnknown = error instanceof AppError && error.code === 'not_found' && !isTheirs;
    if (!isUnknown || !(await isRecordedFor(database, owner, requestId))) throw error;
    return await billing.signReceipt({ ...request, has_ended: true });
  }
};

const NAMES = { key: 'key_id', model: 'model', day: 'day' } as const;

/** Sums up this account's gateway requests by key, model or day. */
const summarizeGatewayUsage = async (
  { database }: { readonly database: Knex },
  { query, caller }: RequestContext<typeof routes.summarizeGatewayUsage>,
): Promise<Reply> => {
  const { group_by: groupBy, from, to } = query;
  const groups = await sumGatewayUsage(database, { userId: caller.userId, groupBy, from, to });
  return { status: 200, body: { data: groups.map(({ name, ...sums }) => ({ [NAMES[groupBy]]: name, ...sums })) } };
};

export interface UsageRoutesDeps extends UsageListDeps {
  readonly billing: Pick<BillingClient, 'requestStates' | 'signReceipt'>;
  readonly usage: Pick<UsageWriter, 'find'>;
}

/** Binds the routes of gateway usage and receipts. */
export const usageRoutes = (deps: UsageRoutesDeps): readonly Binding[] => [
  bind(routes.listGatewayUsage, (context) => listGatewayUsage(deps, context)),
  bind(routes.getGatewayReceipt, async ({ caller, params }) => {
    const owner = { userId: caller.userId, keyId: caller.kind === 'api_key' ? caller.keyId : null };
    return { status: 200, body: { receipt: await readGatewayReceipt(deps, owner, params.request_id) } };
  }),
  bind(routes.summarizeGatewayUsage, (context) => summarizeGatewayUsage(deps, context)),
];
