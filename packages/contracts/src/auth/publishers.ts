import { z } from 'zod';
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
