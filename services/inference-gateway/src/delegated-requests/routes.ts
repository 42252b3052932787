import { routes } from '@svc/contracts';
import { type Binding, bind, type Reply, type RequestContext } from '@svc/service-kit';
import type { ActivityCounter } from './activity-counter.ts';
import { createChatCompletion } from './create-chat-completion.ts';
import type { DelegatedDeps } from './delegated-deps.ts';
import { createTranscription } from './transcription/create-transcription.ts';

/** Returns the services that both the server and the user's paid period allow now. */
const getCapabilities = async (
  deps: DelegatedDeps,
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

interface DelegatedRoutesDeps extends DelegatedDeps {
  readonly activity: Pick<ActivityCounter, 'follow'>;
}

/** Binds the routes of delegated inference. */
export const delegatedRoutes = (deps: DelegatedRoutesDeps): readonly Binding[] => [
  bind(routes.getCapabilities, (context) => getCapabilities(deps, context)),
  bind(routes.createDelegatedChatCompletion, (context) => {
    deps.activity.follow(context.caller.clientId, context.res);
    return deps.inFlight.run(() => createChatCompletion(deps, context));
  }),
  bind(routes.createDelegatedTranscription, (context) => {
    deps.activity.follow(context.caller.clientId, context.res);
    return deps.inFlight.run(() => createTranscription(deps, context));
  }),
];
