import { internalRoutes } from '@svc/contracts';
import { AppError, type Binding, bind, type Clock } from '@svc/service-kit';
import type { Executor } from '../transact.ts';
import { appFact, isOwned } from './app.ts';
import { isLiveSecret } from './client-secret.ts';
import { findAppById } from './queries.ts';
import { listSecrets } from './secret-queries.ts';

/** Binds the internal routes of apps. */
export const appInternalRoutes = ({ database, clock }: { database: Executor; clock: Clock }): Binding[] => [
  bind(internalRoutes.getAppOwnership, async ({ params }) => {
    const app = await findAppById(database, params.client_id);
    if (app === undefined || !isOwned(app)) throw new AppError('not_found');
    return { status: 200, body: appFact(app) };
  }),
  bind(internalRoutes.authenticateApp, async ({ params, body }) => {
    const app = await findAppById(database, params.client_id);
    const secrets = app === undefined ? [] : await listSecrets(database, params.client_id);
    return { status: 200, body: { is_authentic: isLiveSecret(secrets, body.client_secret, clock()) } };
  }),
];
