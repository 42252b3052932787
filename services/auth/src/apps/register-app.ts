import { authEvents, type newId } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Clock } from '@svc/service-kit';
import type { Transact } from '../transact.ts';
import { type AppRecord, appAggregate, appFact, checkRedirectUris, type RegistrationFields } from './app.ts';
import { digestClientSecret, newClientSecret } from './client-secret.ts';
import { insertApp } from './queries.ts';
import type { ClientType } from './redirect-uri.ts';
import { insertSecret } from './secret-queries.ts';

export interface RegisterAppDeps {
  readonly transact: Transact;
  readonly clock: Clock;
  readonly newId: typeof newId;
}

export interface Registration {
  readonly ownerUserId: string;
  readonly clientType: ClientType;
  readonly fields: RegistrationFields;
}

export interface RegisteredApp {
  readonly app: AppRecord;
  /** Plaintext of a confidential app's secret. Shown once; only its digest is stored. */
  readonly clientSecret: string | undefined;
}

/** Registers an app and appends the fact `auth.app.registered`. Throws 422 for invalid redirect URIs. */
export const registerApp = async (
  deps: RegisterAppDeps,
  { fields, ...owner }: Registration,
): Promise<RegisteredApp> => {
  checkRedirectUris(fields.redirectUris, owner.clientType);
  const now = deps.clock();
  const clientSecret = owner.clientType === 'confidential' ? newClientSecret() : undefined;
  const app = await deps.transact(async (trx) => {
    const stored = await insertApp(trx, {
      ...fields,
      ...owner,
      clientId: deps.newId('app'),
      active: true,
      suspendedAt: null,
      version: 1,
      createdAt: now,
      updatedAt: now,
      secretRotatedAt: null,
    });
    if (clientSecret !== undefined) {
      await insertSecret(trx, { digest: digestClientSecret(clientSecret), clientId: stored.clientId, createdAt: now });
    }
    await appendToOutbox(trx, {
      subject: authEvents.appRegistered.subject,
      aggregate: appAggregate(stored.clientId),
      version: stored.version,
      data: appFact(stored),
    });
    return stored;
  });
  return { app, clientSecret };
};
