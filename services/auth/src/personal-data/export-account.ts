import { internalRoutes } from '@svc/contracts';
import { streamSections } from '@svc/database';
import type { Clock, InternalClient, WriteText } from '@svc/service-kit';
import type { Knex } from 'knex';
import { SECOND_MS } from '../time.ts';
import { SECTIONS } from './sections.ts';

export interface ExportAccountDeps {
  readonly database: Knex;
  readonly clock: Clock;
  /** The other services that hold data about people. */
  readonly holders: Readonly<Record<'billing' | 'gateway' | 'dispatcher', Pick<InternalClient, 'stream'>>>;
}

const TIMEOUT_MS = 300 * SECOND_MS;

/**
 * Writes everything that all services hold about a person as one JSON object. Throws `service_unavailable` before the first
 * byte if one of them does not answer.
 */
export const exportAccount = async (
  deps: ExportAccountDeps,
  { userId, signal }: { userId: string; signal: AbortSignal },
  write: WriteText,
): Promise<void> => {
  const input = { params: { svc_user_id: userId }, timeoutMs: TIMEOUT_MS, signal };
  const { billing, gateway, dispatcher } = deps.holders;
  const [ofBilling, ofGateway, ofDispatcher] = await Promise.all([
    billing.stream(internalRoutes.exportBillingData, input),
    gateway.stream(internalRoutes.exportGatewayData, input),
    dispatcher.stream(internalRoutes.exportWebhookData, input),
  ]);
  await write(
    `{"version":1,"svc_user_id":${JSON.stringify(userId)},"created_at":"${deps.clock().toISOString()}","auth":`,
  );
  await streamSections(deps.database, SECTIONS, { id: userId, write });
  const others = { billing: ofBilling, inference_gateway: ofGateway, webhook_dispatcher: ofDispatcher };
  for (const [name, pieces] of Object.entries(others)) {
    await write(`,"${name}":`);
    for await (const piece of pieces) await write(piece);
  }
  await write('}');
};
