import { z } from 'zod';
import { created, defineRoute, json, jsonBody, listOf } from '../core/route.ts';
import { timestampSchema } from '../core/time.ts';

/** Longest text of a domain in a request. Stored domains are shorter. */
const DOMAIN_CHARACTERS_MAX = 255;

/**
 * State of a domain. `pending`: not proven yet. `verified`: proven, and shown on the consent page. `lapsed`: was proven,
 * but no proof has been found for seven days.
 */
export const publisherDomainStatusSchema = z.enum(['pending', 'verified', 'lapsed']);

/** A domain of a business, with the two places of which one must hold the proof. */
export const publisherDomainSchema = z
  .object({
    domain: z.string().meta({ description: 'Host name in ASCII, lower case.' }),
    status: publisherDomainStatusSchema,
    txt_name: z.string().meta({ description: 'Name of the DNS TXT record.' }),
    txt_value: z.string(),
    file_url: z.string().meta({ description: 'Address of the file, served without a redirect.' }),
    file_content: z.string().meta({ description: 'A line that the file contains.' }),
    created_at: timestampSchema,
    verified_at: timestampSchema.nullable(),
    checked_at: timestampSchema.nullable().meta({ description: 'Last check. Verified domains are checked daily.' }),
    failing_since: timestampSchema
      .nullable()
      .meta({ description: 'First of the failed checks of a verified domain. It lapses seven days later.' }),
  })
  .meta({ id: 'PublisherDomain' });

export type PublisherDomain = z.infer<typeof publisherDomainSchema>;

export const addPublisherDomainRequestSchema = z
  .strictObject({ domain: z.string().min(1).max(DOMAIN_CHARACTERS_MAX) })
  .meta({ id: 'AddPublisherDomainRequest' });

/** `{domain}` in a path. */
export const publisherDomainParams = z.object({ domain: z.string().min(1).max(DOMAIN_CHARACTERS_MAX) });

const domains = {
  service: 'auth',
  errorShape: 'detail',
  tag: 'Apps',
  caller: 'console_session',
  managementScope: null,
  business: true,
} as const;

/** Routes of the domains that a business proves. */
export const publisherRoutes = {
  listPublisherDomains: defineRoute({
    ...domains,
    operationId: 'listPublisherDomains',
    role: 'viewer',
    method: 'GET',
    path: '/v1/console/publisher/domains',
    summary: 'List the domains of the business',
    description: 'The consent page shows the domain that has been verified longest.',
    request: {},
    responses: { 200: json('The domains, at most five.', listOf(publisherDomainSchema)) },
    errors: [],
  }),
  addPublisherDomain: defineRoute({
    ...domains,
    operationId: 'addPublisherDomain',
    role: 'developer',
    audit: 'domain.added',
    method: 'POST',
    path: '/v1/console/publisher/domains',
    verifiedEmail: true,
    summary: 'Add a domain to prove',
    description:
      'Publish the DNS TXT record or the file, then call `checkPublisherDomain`. A domain that is added again stays as it is. A name counts exactly: a proof of `example.com` says nothing about `www.example.com`.',
    request: { body: jsonBody(addPublisherDomainRequestSchema) },
    responses: {
      201: created('The domain and its proof.', publisherDomainSchema, '/v1/console/publisher/domains/{domain}'),
    },
    errors: ['domain_taken', 'domain_limit_reached'],
  }),
  checkPublisherDomain: defineRoute({
    ...domains,
    operationId: 'checkPublisherDomain',
    role: 'developer',
    audit: 'domain.checked',
    method: 'POST',
    path: '/v1/console/publisher/domains/{domain}/check',
    verifiedEmail: true,
    summary: 'Look for the proof of a domain',
    description:
      'Possible once in ten seconds. On `domain_not_proven`, `dns` and `file` each say `missing`, `different` or `unreachable`.',
    request: { params: publisherDomainParams },
    responses: { 200: json('The verified domain.', publisherDomainSchema) },
    errors: ['not_found', 'domain_not_proven', 'domain_taken', 'too_many_attempts'],
  }),
  deletePublisherDomain: defineRoute({
    ...domains,
    operationId: 'deletePublisherDomain',
    role: 'developer',
    audit: 'domain.removed',
    method: 'DELETE',
    path: '/v1/console/publisher/domains/{domain}',
    summary: 'Remove a domain',
    description: 'The consent page stops to show it at once. The proof can be taken down.',
    request: { params: publisherDomainParams },
    responses: { 204: { description: 'Removed.' } },
    errors: ['not_found'],
  }),
} as const;
