import type { Route } from '../../routes/index.ts';
import { commonWire } from '../common-wire/index.ts';
import type { ProviderKind } from '../provider-kind.ts';

/** Azure OpenAI, by its v1 API or by its dated one; see the README of this folder. */
export const azureOpenai: ProviderKind = {
  ...commonWire,
  keyHeaders: (apiKey) => ({ 'api-key': apiKey }),
  pathOf: (endpoint, { provider, deployment }: Route) =>
    provider.apiVersion === undefined
      ? endpoint
      : `/deployments/${deployment}${endpoint}?api-version=${provider.apiVersion}`,
  // Two services answer, each with an id of its own: support asks for that of the outer one.
  requestIdHeaders: { primary: ['apim-request-id'], secondary: ['x-request-id', 'x-ms-request-id'] },
  // What the content filter says of the prompt comes first, in a chunk whose model is empty.
  namesModelLate: true,
  // Reasoning models refuse `max_tokens`.
  outputLimitMember: 'max_completion_tokens',
  // GPT-4o mini counts 2,833 tokens an image and 5,667 for each of at most eight tiles; every other model counts fewer.
  imageTokensMax: 48_169,
};
