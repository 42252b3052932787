import { authEvents, type newId } from '@svc/contracts';
import { recordAct } from '@svc/database';
import { appendToOutbox } from '@svc/messaging';
import { type Act, type Clock, invalidField } from '@svc/service-kit';
import { lockAccount } from '../accounts/index.ts';
import type { Transact } from '../transact.ts';
import {
  type AppRecord,
  appAggregate,
  appFact,
  checkRedirectUris,
  countAppsOfOwner,
  insertApp,
  type RegistrationFields,
} from './app-record.ts';
import { digestClientSecret, insertSecret, newClientSecret } from './client-secrets.ts';
import type { ClientType } from './redirect-uri.ts';

/** Limit of apps per account, without deleted ones. The list of apps has no pages. */
const APPS_MAX = 1_000;

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

/**
 * Registers an app and appends the fact `auth.app.registered`. Throws 422 for invalid redirect URIs, or if the owner has the
 * maximum number of apps.
 */
export const registerApp = async (
  deps: RegisterAppDeps,
  { fields, ...owner }: Registration,
  act: Act,
): Promise<RegisteredApp> => {
  checkRedirectUris(fields.redirectUris, owner.clientType);
  const now = deps.clock();
  const clientSecret = owner.clientType === 'confidential' ? newClientSecret() : undefined;
  const app = await deps.transact(async (trx) => {
    // Concurrent registrations of one owner count one after the other.
    await lockAccount(trx, owner.ownerUserId);
    if ((await countAppsOfOwner(trx, owner.ownerUserId)) >= APPS_MAX) {
      throw invalidField(['body'], 'value_error', `Value error, an account can have at most ${APPS_MAX} apps`);
    }
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
      data: appFact({ ...stored, ownerUserId: owner.ownerUserId }),
    });
    await recordAct(trx, act, { type: 'app', id: stored.clientId, name: stored.name });
    return stored;
  });
  return { app, clientSecret };
};
