import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { BillingClient } from '../billing-client.ts';
import { listGatewayUsage, type UsageListDeps } from './list-gateway-usage.ts';
import { readGatewayReceipt } from './read-gateway-receipt.ts';
import { summarizeGatewayUsage } from './summarize-gateway-usage.ts';
import type { UsageWriter } from './usage-writer.ts';

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
