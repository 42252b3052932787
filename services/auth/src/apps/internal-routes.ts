import { internalRoutes } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { appFact } from './app.ts';
import { findAppById } from './queries.ts';

/** Serves what other services may ask about apps. */
export const appInternalRoutes = (deps: { database: Executor }): Binding[] => [
  bind(internalRoutes.getAppOwnership, async ({ params }) => {
    const app = await findAppById(deps.database, params.client_id);
    if (app === undefined) throw new AppError('not_found');
    return { status: 200, body: appFact(app) };
  }),
];
