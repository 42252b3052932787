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
  const primary = new Set(PRIMARY_HEADERS.flatMap((name) => valuesOf(headers[name])));
  if (primary.size > 1) throw new AppError('provider_attribution_ambiguous');
  const [fromPrimary] = primary;
  if (fromPrimary !== undefined) return fromPrimary;
  const [fromSecondary] = SECONDARY_HEADERS.flatMap((name) => valuesOf(headers[name]));
  if (fromSecondary !== undefined) return fromSecondary;
  return typeof bodyId === 'string' && WELL_FORMED.test(bodyId) ? bodyId : undefined;
};

const valuesOf = (value: string | string[] | undefined): string[] =>
  (Array.isArray(value) ? value : [value ?? '']).filter((text) => WELL_FORMED.test(text));
