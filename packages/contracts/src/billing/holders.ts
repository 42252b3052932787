import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';

/** Time for which a holder counts as alive after a renewal, and after which its death is noticed. */
export const HOLDER_LEASE_SECONDS = 10;

/** Estimates in one renewal. */
export const HOLDER_ESTIMATES_MAX = 1_000;

/** Renews the lease of a gateway process, and reports what its API-key requests under way have cost so far. */
export const holderRenewalSchema = z.object({
  in_flight: z
    .array(z.object({ request_id: idSchema('req'), estimate_micros: nonNegativeMicrosSchema }))
    .max(HOLDER_ESTIMATES_MAX)
    .meta({ description: 'Estimates that changed since the last renewal: input as estimated, and output so far.' }),
});

/** Renews the lease of a gateway process. */
export type HolderRenewal = z.infer<typeof holderRenewalSchema>;

/** The renewed lease. */
export const holderLeaseSchema = z.object({ lease_seconds: z.int().min(1) });
