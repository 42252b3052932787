import type { ProviderKindName } from '@svc/contracts';
import type { Provider } from '../routes/index.ts';
import { azureOpenai } from './azure-openai/azure-openai.ts';
import { commonWire } from './common-wire/index.ts';
import { mistral } from './mistral/mistral.ts';
import type { ProviderKind } from './provider-kind.ts';

/** Rules of each kind. The README in the kind's folder names their sources. */
const KINDS: Readonly<Record<ProviderKindName, ProviderKind>> = {
  common: commonWire,
  'azure-openai': azureOpenai,
  mistral,
  ovhcloud: commonWire,
  scaleway: commonWire,
  vllm: commonWire,
};

/** Request members that some kind of provider renames or rejects, and their new names. */
export const RENAMED_MEMBERS: readonly string[] = Object.values(KINDS).flatMap(({ memberNames }) =>
  Object.entries(memberNames).flatMap(([name, renamed]) => (renamed === null ? [name] : [name, renamed])),
);

/** Returns the rules for a provider's `kind` in the routes file. */
export const kindOf = ({ kind }: Pick<Provider, 'kind'>): ProviderKind => KINDS[kind];
