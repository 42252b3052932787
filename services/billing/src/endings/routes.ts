import { internalRoutes } from '@svc/contracts';
import { type Binding, bind } from '@svc/service-kit';
import type { Knex } from 'knex';
import { listErasedAccounts } from './queries.ts';

const PAGE_MAX = 1_000;

/** Binds the internal route that remembers erased accounts for auth. */
export const endingRoutes = ({ database }: { readonly database: Knex }): Binding[] => [
  bind(internalRoutes.listErasedAccounts, async ({ query }) => {
    const page = { since: new Date(query.since), after: query.after, limit: PAGE_MAX + 1 };
    const found = await listErasedAccounts(database, page);
    return { status: 200, body: { data: found.slice(0, PAGE_MAX), has_more: found.length > PAGE_MAX } };
  }),
];
