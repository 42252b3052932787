import { z } from 'zod';
import { idSchema } from '../core/ids.ts';
import { nonNegativeMicrosSchema } from '../core/money.ts';

/** Lease of a holder. A holder that has not renewed for this long counts as dead. */
export const HOLDER_LEASE_SECONDS = 10;

/** Estimates per renewal. */
export const HOLDER_ESTIMATES_MAX = 1_000;

/** Renewal of a gateway process's lease, with the cost so far of its API-key requests in flight. */
export const holderRenewalSchema = z.object({
  in_flight: z
    .array(z.object({ request_id: idSchema('req'), estimate_micros: nonNegativeMicrosSchema }))
    .max(HOLDER_ESTIMATES_MAX)
    .meta({ description: 'Estimates that changed since the last renewal: estimated input plus output so far.' }),
});

export type HolderRenewal = z.infer<typeof holderRenewalSchema>;

export const holderLeaseSchema = z.object({ lease_seconds: z.int().min(1) });
