import type { Knex } from 'knex';
import type { SealedSecret } from '../signatures/index.ts';
import { sqlArray } from '../sql-array.ts';
import type { Configuration } from './configuration.ts';

interface ConfigurationRow {
  client_id: string;
  url: string;
  generation: number;
  created_at: Date;
  secret_key_id: string;
  secret_sealed: Buffer;
}

/** The app's current configuration. */
export const findConfigurationByClientId = async (
  database: Knex,
  clientId: string,
): Promise<Configuration | undefined> => {
  const [configuration] = await listConfigurations(database, [clientId]);
  return configuration;
};

/** The current configurations of these apps. */
export const listConfigurations = async (database: Knex, clientIds: readonly string[]): Promise<Configuration[]> => {
  const rows: ConfigurationRow[] = await database('configurations').whereRaw('client_id = ANY(?)', [
    sqlArray(clientIds),
  ]);
  return rows.map(toConfiguration);
};

/** Writes an app's configuration in place of the one before. */
export const upsertConfiguration = async (trx: Knex.Transaction, configuration: Configuration): Promise<void> => {
  const row: ConfigurationRow = {
    client_id: configuration.clientId,
    url: configuration.url,
    generation: configuration.generation,
    created_at: configuration.createdAt,
    secret_key_id: configuration.secret.keyId,
    secret_sealed: configuration.secret.sealed,
  };
  await trx('configurations').insert(row).onConflict('client_id').merge();
};

/** Up to `limit` configurations whose secret is under another key than this one, locked until `trx` ends. */
export const listConfigurationsUnderOtherKeys = async (
  trx: Knex.Transaction,
  keyId: string,
  limit: number,
): Promise<Configuration[]> => {
  const rows: ConfigurationRow[] = await trx('configurations')
    .whereNot({ secret_key_id: keyId })
    .orderBy('client_id')
    .limit(limit)
    .forUpdate()
    .skipLocked();
  return rows.map(toConfiguration);
};

/** Replaces a secret's encryption, not the secret. */
export const updateConfigurationSecret = async (
  trx: Knex.Transaction,
  clientId: string,
  { keyId, sealed }: SealedSecret,
): Promise<void> => {
  await trx('configurations').where({ client_id: clientId }).update({ secret_key_id: keyId, secret_sealed: sealed });
};

/** Removes an app's configuration. */
export const deleteConfigurationRow = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await trx('configurations').where({ client_id: clientId }).delete();
};

const toConfiguration = (row: ConfigurationRow): Configuration => {
  return {
    clientId: row.client_id,
    url: row.url,
    generation: row.generation,
    createdAt: row.created_at,
    secret: { keyId: row.secret_key_id, sealed: row.secret_sealed },
  };
};
