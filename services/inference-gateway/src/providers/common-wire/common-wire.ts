import { IMAGE_TOKENS_MAX } from '../../wire/index.ts';
import type { ProviderKind } from '../provider-kind.ts';
import { readWireError } from './read-refusal.ts';

/** The common wire format, the base of every kind. */
export const commonWire: ProviderKind = {
  keyHeaders: (apiKey) => ({ authorization: `Bearer ${apiKey}` }),
  pathOf: (endpoint) => endpoint,
  requestIdHeaders: {
    primary: ['x-request-id', 'request-id'],
    // Set by gateways in front of providers without request ids.
    secondary: ['apim-request-id', 'x-ms-request-id', 'x-correlation-id'],
  },
  alwaysReportsUsage: false,
  memberNames: {},
  outputLimitMember: 'max_tokens',
  formFields: (fields) => fields,
  imageTokensMax: IMAGE_TOKENS_MAX,
  readError: readWireError,
};
