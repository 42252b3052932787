import type { Knex } from 'knex';
import type { SealedSecret, SecretBox } from '../signatures/index.ts';
import type { Configuration } from './configuration.ts';
import { listConfigurationsUnderOtherKeys, updateConfiguration } from './queries.ts';

const BATCH = 200;

/**
 * Seals every signing secret under the current key, in batches, while the service runs. Secrets do not change. Returns the number
 * of changed rows. Afterwards the other keys may be removed from the configuration.
 */
export const reencryptSecrets = async (database: Knex, secretBox: SecretBox): Promise<number> => {
  for (let total = 0; ; ) {
    const count = await database.transaction((trx) => reencryptBatch(trx, secretBox));
    if (count === 0) return total;
    total += count;
  }
};

const reencryptBatch = async (trx: Knex.Transaction, secretBox: SecretBox): Promise<number> => {
  const configurations = await listConfigurationsUnderOtherKeys(trx, secretBox.currentKeyId, BATCH);
  for (const configuration of configurations) await updateConfiguration(trx, reencrypt(configuration, secretBox));
  return configurations.length;
};

const reencrypt = (configuration: Configuration, secretBox: SecretBox): Configuration => {
  const { clientId, generation, previousKeyId, previousSealed } = configuration;
  const renew = (sealed: SealedSecret): SealedSecret => {
    const owner = { clientId, generation };
    return secretBox.seal(secretBox.open(sealed, owner), owner);
  };
  const current = { ...configuration, ...renew(configuration) };
  if (previousKeyId === null || previousSealed === null) return current;
  const previous = renew({ keyId: previousKeyId, sealed: previousSealed });
  return { ...current, previousKeyId: previous.keyId, previousSealed: previous.sealed };
};
