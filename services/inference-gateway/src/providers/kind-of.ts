import type { ProviderKindName } from '@svc/contracts';
import type { Provider } from '../routes/index.ts';
import { azureOpenai } from './azure-openai/index.ts';
import { commonWire } from './common-wire/index.ts';
import { mistral } from './mistral/index.ts';
import { ovhcloud } from './ovhcloud/index.ts';
import type { ProviderKind } from './provider-kind.ts';
import { scaleway } from './scaleway/index.ts';
import { vllm } from './vllm/index.ts';

const KINDS: Readonly<Record<ProviderKindName, ProviderKind>> = {
  common: commonWire,
  'azure-openai': azureOpenai,
  mistral,
  ovhcloud,
  scaleway,
  vllm,
};

/** Request members that some kind of provider renames or rejects, and their new names. */
export const RENAMED_MEMBERS: readonly string[] = Object.values(KINDS).flatMap(({ memberNames }) =>
  Object.entries(memberNames).flatMap(([name, renamed]) => (renamed === null ? [name] : [name, renamed])),
);

/** Returns the rules for a provider's `kind` in the routes file. */
export const kindOf = ({ kind }: Pick<Provider, 'kind'>): ProviderKind => KINDS[kind];
