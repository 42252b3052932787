import { authEvents, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Clock } from '../clock.ts';
import type { Transact } from '../transact.ts';
import { type AppFields, type AppRecord, appAggregate, appFact, checkRedirectUris } from './app.ts';
import { digestClientSecret, newClientSecret } from './client-secret.ts';
import { insertApp } from './queries.ts';
import type { ClientType } from './redirect-uri.ts';
import { insertSecret } from './secret-queries.ts';

/** What registering needs. */
export interface RegisterAppDeps {
  transact: Transact;
  clock: Clock;
  newId: typeof newId;
}

/** A new app of an owner. */
export interface NewApp extends AppFields {
  ownerUserId: string;
  clientType: ClientType;
}

/** The app, and for a confidential one its secret, which nobody can read again. */
export interface RegisteredApp {
  app: AppRecord;
  clientSecret: string | undefined;
}

/** Registers an app and leaves the fact `auth.app.registered`. Throws 422 on redirect URIs that cannot be registered. */
export const registerApp = async (deps: RegisterAppDeps, input: NewApp): Promise<RegisteredApp> => {
  checkRedirectUris(input.redirectUris, input.clientType);
  const now = deps.clock();
  const clientSecret = input.clientType === 'confidential' ? newClientSecret() : undefined;
  const app: AppRecord = {
    ...input,
    clientId: deps.newId('app'),
    active: true,
    version: 1,
    createdAt: now,
    updatedAt: now,
    secretRotatedAt: null,
  };
  await deps.transact(async (trx) => {
    await insertApp(trx, app);
    if (clientSecret !== undefined) {
      await insertSecret(trx, { digest: digestClientSecret(clientSecret), clientId: app.clientId, createdAt: now });
    }
    await appendToOutbox(trx, {
      subject: authEvents.appRegistered.subject,
      aggregate: appAggregate(app.clientId),
      version: app.version,
      data: appFact(app),
    });
  });
  return { app, clientSecret };
};
