import { recordAct } from '@svc/database';
import { type Act, AppError, type Clock } from '@svc/service-kit';
import { later, SECOND_MS } from '../time.ts';
import type { Transact } from '../transact.ts';
import { digestClientSecret, newClientSecret } from './client-secret.ts';
import { lockAppOfOwner, updateAppRow } from './queries.ts';
import { deleteSecrets, expireSecrets, insertSecret } from './secret-queries.ts';

/** Plaintext of the new secret. Shown once; only its digest is stored. */
export interface RotatedSecret {
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
