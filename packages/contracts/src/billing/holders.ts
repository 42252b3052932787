import { z } from 'zod';

/** Lease of a holder. A holder that has not renewed for this long counts as dead. */
export const HOLDER_LEASE_SECONDS = 10;

/** Renewal of a gateway process's lease. */
export const holderRenewalSchema = z.object({
  internal_url: z.url().meta({ description: "The process's own internal listener, where billing recalls its leases." }),
});

export type HolderRenewal = z.infer<typeof holderRenewalSchema>;

export const holderLeaseSchema = z.object({ lease_seconds: z.int().min(1) });
