import { HOLDER_LEASE_SECONDS, internalRoutes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { deleteLease, upsertLease } from './queries.ts';

/** Internal routes of holders. */
export const holderRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.renewHolder, async ({ params: { holder_id }, body: { internal_url } }) => {
    await upsertLease(database, { holderId: holder_id, internalUrl: internal_url, leaseSeconds: HOLDER_LEASE_SECONDS });
    return { status: 200, body: { lease_seconds: HOLDER_LEASE_SECONDS } };
  }),
  bind(internalRoutes.endHolder, async ({ params: { holder_id } }) => {
    await deleteLease(database, holder_id);
    return { status: 204 };
  }),
];
