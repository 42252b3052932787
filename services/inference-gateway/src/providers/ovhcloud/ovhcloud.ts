import { commonWire } from '../common-wire/index.ts';
import type { ProviderKind } from '../provider-kind.ts';

/** OVHcloud AI Endpoints. See the README of this folder. */
export const ovhcloud: ProviderKind = { ...commonWire };
