import { AppError, type Clock } from '@svc/service-kit';
import type { Knex } from 'knex';
import { raiseSecretVersion } from '../events/index.ts';
import { newSigningSecret, type SecretBox } from '../signatures/index.ts';
import { findConfigurationByClientId, updateConfiguration } from './queries.ts';

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
 * Gives an app a new signing secret within its generation; the one before signs as well until the overlap is over. Attempts in
 * flight go on. Throws `webhook_not_configured`.
 */
export const rotateSecret = async (
  { clientId, overlapSeconds }: { clientId: string; overlapSeconds: number },
  { database, secretBox, clock }: RotateDeps,
): Promise<RotatedSecret> => {
  const signingSecret = newSigningSecret();
  const previousExpiresAt = new Date(clock().getTime() + overlapSeconds * 1_000);
  await database.transaction(async (trx) => {
    // The lane's lock keeps other rotations and generations waiting.
    const isConfigured = await raiseSecretVersion(trx, clientId);
    const configuration = isConfigured ? await findConfigurationByClientId(trx, clientId) : undefined;
    if (configuration === undefined) throw new AppError('webhook_not_configured');
    const { secretVersion: _kept, keyId, sealed, ...rest } = configuration;
    const renewed = secretBox.seal(signingSecret, { clientId, generation: configuration.generation });
    const previous = { previousKeyId: keyId, previousSealed: sealed, previousExpiresAt };
    await updateConfiguration(trx, { ...rest, ...renewed, ...previous });
  });
  return { signingSecret, previousExpiresAt };
};
