import { internalRoutes } from '@svc/contracts';
import { streamSections } from '@svc/database';
import type { Clock, InternalClient, WriteText } from '@svc/service-kit';
import { SECOND_MS } from '../time.ts';
import { SECTIONS } from './sections.ts';

export interface ExportAccountDeps {
  readonly clock: Clock;
  readonly exportDatabase: Parameters<typeof streamSections>[0];
  /** The other services that hold personal data. */
  readonly holders: Readonly<Record<'billing' | 'gateway' | 'dispatcher', Pick<InternalClient, 'stream'>>>;
}

const TIMEOUT_MS = 300 * SECOND_MS;

/**
 * Writes all data that the services hold about a person as one JSON object. Reads one service after the other, so that
 * none keeps a transaction open while another is read. Throws `service_unavailable` if one does not respond.
 */
export const exportAccount = async (
  deps: ExportAccountDeps,
  { userId, signal }: { userId: string; signal: AbortSignal },
  write: WriteText,
): Promise<void> => {
  const input = { params: { svc_user_id: userId }, timeoutMs: TIMEOUT_MS, signal };
  const { billing, gateway, dispatcher } = deps.holders;
  const others = {
    billing: () => billing.stream(internalRoutes.exportBillingData, input),
    inference_gateway: () => gateway.stream(internalRoutes.exportGatewayData, input),
    webhook_dispatcher: () => dispatcher.stream(internalRoutes.exportWebhookData, input),
  };
  await write(`{"version":1,"svc_user_id":${JSON.stringify(userId)},"created_at":"${deps.clock().toISOString()}"`);
  for (const [name, open] of Object.entries(others)) {
    const pieces = await open();
    await write(`,"${name}":`);
    for await (const piece of pieces) await write(piece);
  }
  await write(',"auth":');
  await streamSections(deps.exportDatabase, SECTIONS, { id: userId, write });
  await write('}');
};
