import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import type { ActivityCounter } from './activity-counter.ts';
import { createChatCompletion } from './create-chat-completion.ts';
import { createTranscription } from './create-transcription.ts';
import { getCapabilities } from './get-capabilities.ts';

export interface DelegatedRoutesDeps extends InferenceDeps {
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
