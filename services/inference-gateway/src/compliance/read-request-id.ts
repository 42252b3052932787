import type { IncomingHttpHeaders } from 'node:http';
import { AppError } from '@svc/service-kit';

/** Names under which providers send the id of a request; those that mean the same thing must agree. */
const PRIMARY_HEADERS = ['x-request-id', 'request-id'] as const;
/** Ids of gateways in front of the provider, for those that send no other. */
const SECONDARY_HEADERS = ['apim-request-id', 'x-ms-request-id', 'x-correlation-id'] as const;
/** What a header may carry on to the caller. */
const WELL_FORMED = /^[\x21-\x7e]{1,200}$/;

/**
 * The provider's id of a request: from its header, or else the id in its body. Undefined where neither is there. Throws
 * `provider_attribution_ambiguous` where headers contradict each other.
 */
export const readRequestId = (headers: IncomingHttpHeaders, bodyId: unknown): string | undefined => {
  let id: string | undefined;
  for (const name of PRIMARY_HEADERS) {
    for (const value of valuesOf(headers[name])) {
      if (id !== undefined && id !== value) throw new AppError('provider_attribution_ambiguous');
      id = value;
    }
  }
  for (const name of SECONDARY_HEADERS) id ??= valuesOf(headers[name])[0];
  return id ?? (typeof bodyId === 'string' && WELL_FORMED.test(bodyId) ? bodyId : undefined);
};

const NONE: readonly string[] = [];

const valuesOf = (value: string | string[] | undefined): readonly string[] => {
  if (value === undefined) return NONE;
  return (Array.isArray(value) ? value : [value]).filter((text) => WELL_FORMED.test(text));
};
