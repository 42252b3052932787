import { internalRoutes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { LeaseBook } from './lease-book.ts';

/** Binds the internal route on which billing recalls leases. */
export const leaseRoutes = ({ leases }: { readonly leases: Pick<LeaseBook, 'recall'> }): readonly Binding[] => [
  bind(internalRoutes.recallLeases, async ({ body }) => ({
    status: 200,
    body: { leases: leases.recall(body.lease_ids) },
  })),
];
