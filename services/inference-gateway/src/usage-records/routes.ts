import { type KeyReceiptRequest, routes } from '@svc/contracts';
import { AppError, type Binding, bind, type Reply, type RequestContext } from '@svc/service-kit';
import type { Knex } from 'knex';
import type { BillingClient } from '../billing-client.ts';
import { listGatewayUsage, type UsageListDeps } from './list-gateway-usage.ts';
import { findGatewayRecord, type GatewayRecord, type RequestOwner, sumGatewayUsage } from './queries.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Records are written within milliseconds, unless the database is away. */
const WRITTEN_TIMEOUT_MS = 3_000;

/**
 * Reads the receipt of an API-key request. Throws `not_found`, `not_settled` while it runs or its outcome is on its way, or
 * `service_unavailable`. Its record says who served it and what it used, and billing what it cost.
 */
const readGatewayReceipt = async (
  { database, billing, usage }: UsageRoutesDeps,
  owner: RequestOwner,
  requestId: string,
): Promise<string> => {
  const unwritten = usage.find(requestId);
  const isTheirs =
    unwritten?.identity.userId === owner.userId && (owner.keyId === null || unwritten.identity.keyId === owner.keyId);
  if (isTheirs && !unwritten.hasEnded) throw notSettled();
  if (isTheirs) await usage.written(WRITTEN_TIMEOUT_MS);
  const record = await findGatewayRecord(database, owner, requestId);
  if (record === undefined) throw isTheirs ? notSettled() : new AppError('not_found');
  return await billing.signReceipt({
    request_id: requestId,
    svc_user_id: owner.userId,
    key_id: record.key_id,
    details: detailsOf(record),
  });
};

const notSettled = (): AppError => new AppError('not_settled', undefined, { headers: { 'Retry-After': '1' } });

const detailsOf = (record: GatewayRecord): KeyReceiptRequest['details'] => ({
  service: record.service,
  provider: record.provider,
  model: record.provider === null ? null : record.upstream_model,
  data_zone: record.data_zone,
  certification: record.certification,
  upstream_request_id: record.provider === null ? null : record.upstream_request_id,
  input_tokens: record.input_tokens,
  output_tokens: record.output_tokens,
  cached_input_tokens: record.cached_input_tokens,
  started_at: record.started_at.toISOString(),
});

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
  readonly usage: Pick<UsageWriter, 'find' | 'written'>;
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
