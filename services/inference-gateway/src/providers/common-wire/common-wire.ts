import { IMAGE_TOKENS_MAX } from '../../wire/index.ts';
import type { ProviderKind } from '../provider-kind.ts';
import { readWireError } from './read-refusal.ts';

/** The common wire format as such: what every kind starts from. */
export const commonWire: ProviderKind = {
  keyHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  pathOf: (endpoint) => endpoint,
  requestIdHeaders: {
    primary: ['x-request-id', 'request-id'],
    // Of gateways in front of a provider that sends none itself.
    secondary: ['apim-request-id', 'x-ms-request-id', 'x-correlation-id'],
  },
  alwaysReportsUsage: false,
  namesModelLate: false,
  memberNames: {},
  outputLimitMember: 'max_tokens',
  formFields: (fields) => fields,
  imageTokensMax: IMAGE_TOKENS_MAX,
  readError: readWireError,
};
