import { inTransaction } from '@svc/database';
import type { Knex } from 'knex';
import type { SecretBox } from '../signatures/index.ts';
import { listConfigurationsUnderOtherKeys, updateConfigurationSecret } from './queries.ts';

const BATCH = 200;

/**
 * Seals every signing secret under the current key, in batches, while the service runs. Secrets do not change. Returns the number
 * of changed rows. Afterwards the other keys may be removed from the configuration.
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
  for (const { clientId, generation, keyId, sealed } of configurations) {
    const owner = { clientId, generation };
    const secret = secretBox.open({ keyId, sealed }, owner);
    await updateConfigurationSecret(trx, clientId, secretBox.seal(secret, owner));
  }
  return configurations.length;
};
