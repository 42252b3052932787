import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { internalRoutes } from '@svc/contracts';
import { camelKeys, recordAct, snakeKeys } from '@svc/database';
import { type Act, AppError, type Binding, bind, type Clock } from '@svc/service-kit';
import { later, SECOND_MS } from '../time.ts';
import type { Executor, Transact, Transaction } from '../transact.ts';
import { appFact, findAppById, isOwned, lockAppOfOwner, updateAppRow } from './app-record.ts';

/** Lets scanners recognize a leaked secret. */
const PREFIX = 'svc_cs_';
const SECRET_BYTES = 32;

/** Returns a secret of 256 random bits. */
export const newClientSecret = (): string => PREFIX + randomBytes(SECRET_BYTES).toString('base64url');

/** Returns the stored digest of a secret. A secret this random needs no slow hash. */
export const digestClientSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** A stored secret. `expiresAt` is set when it is rotated. */
export interface StoredSecret {
  readonly digest: Buffer;
  readonly expiresAt: Date | null;
}

/** Returns true if a presented secret is live. Takes the same time for any secret. */
export const isLiveSecret = (stored: readonly StoredSecret[], presented: string, now: Date): boolean => {
  const digest = digestClientSecret(presented);
  return stored
    .map(
      ({ digest: expected, expiresAt }) => timingSafeEqual(expected, digest) && (expiresAt === null || expiresAt > now),
    )
    .includes(true);
};

/** Stores the digest of a new current secret. */
export const insertSecret = async (
  trx: Transaction,
  secret: { digest: Buffer; clientId: string; createdAt: Date },
): Promise<void> => {
  await trx('app_secrets').insert(snakeKeys({ ...secret, expiresAt: null }));
};

/** Lists the secrets of an app, active or not. A deleted app has none. */
const listSecrets = async (executor: Executor, clientId: string): Promise<StoredSecret[]> => {
  const rows = await executor('app_secrets')
    .where({ client_id: clientId })
    .select<{ digest: Buffer; expires_at: Date | null }[]>('digest', 'expires_at');
  return rows.map(camelKeys);
};

/** Sets the expiry of the current secret, and expires older ones now. */
const expireSecrets = async (trx: Transaction, clientId: string, currentEndsAt: Date): Promise<void> => {
  await trx('app_secrets').where({ client_id: clientId }).whereNotNull('expires_at').delete();
  await trx('app_secrets').where({ client_id: clientId }).update({ expires_at: currentEndsAt });
};

/** Deletes every secret of an app. */
export const deleteSecrets = async (trx: Transaction, clientId: string): Promise<void> => {
  await trx('app_secrets').where({ client_id: clientId }).delete();
};

/** Plaintext of the new secret. Shown once; only its digest is stored. */
interface RotatedSecret {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly secretRotatedAt: Date;
  readonly previousSecretExpiresAt: Date | null;
}

/**
 * Replaces the secret of an app. The current one stays valid for `overlapSeconds`; older ones end now. Throws
 * `not_found` and `public_client_has_no_secret`.
 */
export const rotateSecret = async (
  deps: { transact: Transact; clock: Clock },
  key: { clientId: string; ownerUserId: string },
  { overlapSeconds, act }: { overlapSeconds: number; act: Act },
): Promise<RotatedSecret> =>
  await deps.transact(async (trx) => {
    const app = await lockAppOfOwner(trx, key);
    if (app === undefined) throw new AppError('not_found');
    if (app.clientType === 'public') throw new AppError('public_client_has_no_secret');
    const now = deps.clock();
    const previousSecretExpiresAt = overlapSeconds === 0 ? null : later(now, overlapSeconds * SECOND_MS);
    if (previousSecretExpiresAt === null) await deleteSecrets(trx, app.clientId);
    else await expireSecrets(trx, app.clientId, previousSecretExpiresAt);
    const clientSecret = newClientSecret();
    await insertSecret(trx, { digest: digestClientSecret(clientSecret), clientId: app.clientId, createdAt: now });
    await updateAppRow(trx, { ...app, secretRotatedAt: now, updatedAt: now });
    await recordAct(trx, act, { type: 'app', id: app.clientId, name: app.name });
    return { clientId: app.clientId, clientSecret, secretRotatedAt: now, previousSecretExpiresAt };
  });

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
