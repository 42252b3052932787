import type { CallerKind, RouteDefinition } from '../core/index.ts';
import { EXAMPLE_TIME, exampleId } from './example-values.ts';
import type { JsonSchema } from './schemas.ts';

const text = (description: string, example: string): JsonSchema => ({
  description,
  schema: { type: 'string' },
  example,
});
const integer = (description: string, example: number): JsonSchema => ({
  description,
  schema: { type: 'integer', minimum: 0 },
  example,
});

/** Compliance metadata of an answer of the API-key gateway. */
const complianceHeaders = {
  'X-Svc-Compliance-Schema-Version': text('Version of the compliance metadata.', '2'),
  'X-Svc-Compliance-Provider': text('Provider that answered, percent-encoded unless it is ASCII.', 'Mistral'),
  'X-Svc-Compliance-Model': text('Model that answered, as the provider names it.', 'mistral-large-2512'),
  'X-Svc-Compliance-Data-Zone': text('Zone in which the provider handles the data.', 'EU'),
  'X-Svc-Compliance-Ingress-Region': text('Region where the request came in, not where it was executed.', 'eu-central'),
  'X-Svc-Compliance-Upstream-Request-Id': text('The provider’s id of the request.', '6f1d0c2e'),
  'X-Svc-Compliance-Gateway-Request-Id': text('Our id of the request; the same as `X-Request-Id`.', exampleId('req')),
  'X-Svc-Compliance-Timestamp': text('Time of the answer, ISO 8601 in UTC.', EXAMPLE_TIME),
} as const;

/** Rate limits of an API key. Absent if the key has no such limit. */
const rateLimitHeaders = {
  'x-ratelimit-limit-requests': integer('Requests per minute that the key may make.', 60),
  'x-ratelimit-remaining-requests': integer('Requests left in this minute.', 59),
  'x-ratelimit-reset-requests': text('Time until the limit of requests is full again.', '1.2s'),
  'x-ratelimit-limit-tokens': integer('Tokens per minute that the key may use.', 60_000),
  'x-ratelimit-remaining-tokens': integer('Tokens left in this minute.', 59_400),
  'x-ratelimit-reset-tokens': text('Time until the limit of tokens is full again.', '1.2s'),
} as const;

/** Every header that the document describes. */
export const responseHeaders = {
  'X-Request-Id': text('Id of this request. Quote it to support.', exampleId('req')),
  'Retry-After': integer(
    'Seconds to wait before a retry. Absent where a retry is safe at once, or where no time is known.',
    2,
  ),
  'X-Should-Retry': text('`false` if a retry would not change the answer, or might be billed twice.', 'false'),
  'WWW-Authenticate': text('Scheme of the credential, and the error of a refused one (RFC 6750).', 'Bearer'),
  Location: text('Address of what was created, or of the page to open next.', '/v1/integrations/apps/app_01k5…'),
  ...rateLimitHeaders,
  ...complianceHeaders,
} as const satisfies Record<string, JsonSchema>;

type HeaderName = keyof typeof responseHeaders;

const RATE_LIMIT_NAMES = Object.keys(rateLimitHeaders) as HeaderName[]; // keys of the object above
const COMPLIANCE_NAMES = Object.keys(complianceHeaders) as HeaderName[]; // keys of the object above
const RETRY_STATUSES = new Set(['429', '503']);
const uncredentialed: readonly CallerKind[] = ['public', 'service'];

/** Returns references to the headers of a route's response. */
export const headersOf = (route: RouteDefinition, status: string): Record<string, JsonSchema> =>
  Object.fromEntries(namesOf(route, status).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

const namesOf = (route: RouteDefinition, status: string): readonly HeaderName[] => {
  const isInference = route.errorShape === 'wire' && route.method === 'POST';
  const hasLocation = route.responses[Number(status)]?.location !== undefined || status.startsWith('3');
  const mayWait = RETRY_STATUSES.has(status) || (status === '409' && route.errors.includes('not_settled'));
  const mayNotRepeat =
    (status === '409' && route.errors.includes('duplicate_request')) ||
    (status === '504' && route.errors.includes('upstream_timeout_uncertain'));
  return [
    'X-Request-Id',
    ...(hasLocation ? (['Location'] as const) : []),
    ...(status === '401' && !uncredentialed.includes(route.caller) ? (['WWW-Authenticate'] as const) : []),
    ...(mayWait ? (['Retry-After'] as const) : []),
    ...(mayNotRepeat ? (['X-Should-Retry'] as const) : []),
    ...(isInference && (status === '200' || status === '429') ? RATE_LIMIT_NAMES : []),
    ...(isInference && status === '200' ? COMPLIANCE_NAMES : []),
    ...(route.errorShape === 'wire' && !(isInference && status === '200')
      ? (['X-Svc-Compliance-Gateway-Request-Id'] as const)
      : []),
  ];
};
