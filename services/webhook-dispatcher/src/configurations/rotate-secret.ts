import { type Act, AppError, type Clock } from '@svc/service-kit';
import type { Knex } from 'knex';
import { recordWebhookAct } from '../audit-log.ts';
import { raiseSecretVersion } from '../events/index.ts';
import { newSigningSecret, type SecretBox } from '../signatures.ts';
import { findConfigurationByOwnerId, updateConfiguration } from './queries.ts';

export interface RotateDeps {
  readonly database: Knex;
  readonly secretBox: SecretBox;
  readonly clock: Clock;
}

/** Plaintext of the new secret, shown once, and the end of the one before. */
export interface RotatedSecret {
  readonly signingSecret: string;
  readonly previousExpiresAt: Date;
}

/**
 * Gives an owner a new signing secret within its generation; the one before signs as well until the overlap is over. Attempts in
 * flight go on. Throws `webhook_not_configured`.
 */
export const rotateSecret = async (
  { ownerId, overlapSeconds, act }: { ownerId: string; overlapSeconds: number; act: Act },
  { database, secretBox, clock }: RotateDeps,
): Promise<RotatedSecret> => {
  const signingSecret = newSigningSecret();
  const previousExpiresAt = new Date(clock().getTime() + overlapSeconds * 1_000);
  await database.transaction(async (trx) => {
    // The lane's lock keeps other rotations and generations waiting.
    const isConfigured = await raiseSecretVersion(trx, ownerId);
    const configuration = isConfigured ? await findConfigurationByOwnerId(trx, ownerId) : undefined;
    if (configuration === undefined) throw new AppError('webhook_not_configured');
    const { secretVersion: _kept, sealed, ...rest } = configuration;
    const owner = { ownerId, generation: configuration.generation };
    const previousSealed = secretBox.renew(sealed, owner);
    const renewed = { sealed: secretBox.seal(signingSecret, owner), previousSealed, previousExpiresAt };
    await updateConfiguration(trx, { ...rest, ...renewed });
    await recordWebhookAct(trx, act, ownerId);
  });
  return { signingSecret, previousExpiresAt };
};
