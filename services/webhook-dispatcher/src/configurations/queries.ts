import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { Configuration } from './configuration.ts';

const columns = recordColumns<Configuration>({
  clientId: 'client_id text',
  url: 'url text',
  generation: 'generation integer',
  createdAt: 'created_at timestamptz',
  keyId: 'secret_key_id text',
  sealed: 'secret_sealed bytea',
  previousKeyId: 'previous_key_id text',
  previousSealed: 'previous_sealed bytea',
  previousExpiresAt: 'previous_expires_at timestamptz',
});

const LIST_CONFIGURATIONS = {
  name: 'list_configurations',
  text: `SELECT ${columns.select('c')}, l.secret_version AS "secretVersion"
    FROM configurations c JOIN lanes l USING (client_id) WHERE client_id = ANY($1::text[])`,
};

/** A configuration with the number of its secret, which its lane holds. */
export interface VersionedConfiguration extends Configuration {
  readonly secretVersion: number;
}

export const listConfigurations = async (
  database: Knex,
  clientIds: readonly string[],
): Promise<VersionedConfiguration[]> =>
  await runPrepared<VersionedConfiguration>(database, LIST_CONFIGURATIONS, [clientIds]);

export const findConfigurationByClientId = async (
  database: Knex,
  clientId: string,
): Promise<VersionedConfiguration | undefined> => {
  const [configuration] = await listConfigurations(database, [clientId]);
  return configuration;
};

export const upsertConfiguration = async (trx: Knex.Transaction, configuration: Configuration): Promise<void> => {
  await trx('configurations').insert(columns.toRow(configuration)).onConflict('client_id').merge();
};

const LOCK_CONFIGURATIONS_UNDER_OTHER_KEYS = {
  name: 'lock_configurations_under_other_keys',
  text: `SELECT ${columns.select('c')} FROM configurations c
    WHERE secret_key_id <> $1 OR previous_key_id <> $1
    ORDER BY client_id LIMIT $2 FOR UPDATE SKIP LOCKED`,
};

/** Returns up to `limit` configurations with a secret that is sealed under another key, locked until `trx` ends. */
export const listConfigurationsUnderOtherKeys = async (
  trx: Knex.Transaction,
  keyId: string,
  limit: number,
): Promise<Configuration[]> =>
  await runPrepared<Configuration>(trx, LOCK_CONFIGURATIONS_UNDER_OTHER_KEYS, [keyId, limit]);

/** Writes a configuration back whose secrets have changed. */
export const updateConfiguration = async (trx: Knex.Transaction, configuration: Configuration): Promise<void> => {
  await trx('configurations').where({ client_id: configuration.clientId }).update(columns.toRow(configuration));
};

export const deleteConfigurationRow = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await trx('configurations').where({ client_id: clientId }).delete();
};
