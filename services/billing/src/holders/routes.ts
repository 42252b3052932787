import { HOLDER_LEASE_SECONDS, internalRoutes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { noteEstimates } from '../reservations/index.ts';
import { deleteLease, upsertLease } from './queries.ts';

/** Internal routes of holders. */
export const holderRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.renewHolder, async ({ params: { holder_id }, body: { in_flight } }) => {
    await upsertLease(database, holder_id, HOLDER_LEASE_SECONDS);
    const estimates = in_flight.map((each) => ({ requestId: each.request_id, estimateMicros: each.estimate_micros }));
    if (estimates.length > 0) await noteEstimates(database, holder_id, estimates);
    return { status: 200, body: { lease_seconds: HOLDER_LEASE_SECONDS } };
  }),
  bind(internalRoutes.endHolder, async ({ params: { holder_id } }) => {
    await deleteLease(database, holder_id);
    return { status: 204 };
  }),
];
