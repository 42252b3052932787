import type { routes } from '@svc/contracts';
import type { Reply, RequestContext } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';

/** Returns the services that both the server and the user's paid period allow now. */
export const getCapabilities = async (
  deps: InferenceDeps,
  { caller, requestId }: RequestContext<typeof routes.getCapabilities>,
): Promise<Reply> => {
  const table = deps.routes();
  const nowMs = deps.clock();
  const plan = await deps.billing.entitlements(caller.userId, requestId);
  const services = {
    chat: plan.chat && table.delegatedChat(nowMs).length > 0,
    audio_transcription: plan.audio_transcription && table.delegatedTranscription(nowMs).length > 0,
  };
  return { status: 200, body: { object: 'capabilities', services } };
};
