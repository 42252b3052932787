import type { Route } from '../../routes/index.ts';
import { commonWire } from '../common-wire/index.ts';
import type { ProviderKind } from '../provider-kind.ts';

/** Azure OpenAI, with its v1 or dated API. See the README of this folder. */
export const azureOpenai: ProviderKind = {
  ...commonWire,
  keyHeaders: (apiKey) => ({ 'api-key': apiKey }),
  pathOf: (endpoint, { provider, deployment }: Route) =>
    provider.apiVersion === undefined
      ? endpoint
      : `/deployments/${deployment}${endpoint}?api-version=${provider.apiVersion}`,
  // Two services set ids. Azure support needs the id of the outer one.
  requestIdHeaders: { primary: ['apim-request-id'], secondary: ['x-request-id', 'x-ms-request-id'] },
  // Reasoning models reject `max_tokens`.
  outputLimitMember: 'max_completion_tokens',
  // GPT-4o mini: 2,833 tokens per image, plus 5,667 for each of at most eight tiles. Every other model counts fewer.
  imageTokensMax: 48_169,
};
