import { inTransaction } from '@svc/database';
import type { Knex } from 'knex';
import type { SecretBox } from '../signatures/index.ts';
import { listConfigurationsUnderOtherKeys, updateConfigurationSecret } from './queries.ts';

const BATCH = 200;

/**
 * Puts every signing secret under the current key, in batches, while the service runs; the secrets themselves stay the same.
 * Answers how many were changed. Afterwards the other keys may be taken out of the configuration.
 */
export const reencryptSecrets = async (database: Knex, secretBox: SecretBox): Promise<number> => {
  for (let total = 0; ; ) {
    const count = await inTransaction(database, (trx) => reencryptBatch(trx, secretBox));
    if (count === 0) return total;
    total += count;
  }
};

const reencryptBatch = async (trx: Knex.Transaction, secretBox: SecretBox): Promise<number> => {
  const configurations = await listConfigurationsUnderOtherKeys(trx, secretBox.currentKeyId, BATCH);
  for (const { clientId, generation, secret } of configurations) {
    const owner = { clientId, generation };
    await updateConfigurationSecret(trx, clientId, secretBox.seal(secretBox.open(secret, owner), owner));
  }
  return configurations.length;
};
