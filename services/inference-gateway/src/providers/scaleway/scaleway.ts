import { commonWire } from '../common-wire/index.ts';
import type { ProviderKind } from '../provider-kind.ts';

/** Scaleway Generative APIs. See the README of this folder. */
export const scaleway: ProviderKind = { ...commonWire };
