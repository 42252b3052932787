import { routes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { InferenceDeps } from '../inference-deps.ts';
import { createChatCompletion } from './create-chat-completion.ts';
import { createTranscription } from './create-transcription.ts';
import { getCapabilities } from './get-capabilities.ts';

/** Binds delegated inference. */
export const delegatedRoutes = (deps: InferenceDeps): readonly Binding[] => [
  bind(routes.getCapabilities, (context) => getCapabilities(deps, context)),
  bind(routes.createDelegatedChatCompletion, (context) => deps.inFlight.run(() => createChatCompletion(deps, context))),
  bind(routes.createDelegatedTranscription, (context) => deps.inFlight.run(() => createTranscription(deps, context))),
];
