import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { SealedSecret } from '../signatures/index.ts';
import type { Configuration } from './configuration.ts';

const columns = recordColumns<Configuration>({
  clientId: 'client_id text',
  url: 'url text',
  generation: 'generation integer',
  createdAt: 'created_at timestamptz',
  keyId: 'secret_key_id text',
  sealed: 'secret_sealed bytea',
});

const LIST_CONFIGURATIONS = {
  name: 'list_configurations',
  text: `SELECT ${columns.select('c')} FROM configurations c WHERE client_id = ANY($1::text[])`,
};

export const listConfigurations = async (database: Knex, clientIds: readonly string[]): Promise<Configuration[]> =>
  await runPrepared<Configuration>(database, LIST_CONFIGURATIONS, [clientIds]);

export const findConfigurationByClientId = async (
  database: Knex,
  clientId: string,
): Promise<Configuration | undefined> => {
  const [configuration] = await listConfigurations(database, [clientId]);
  return configuration;
};

export const upsertConfiguration = async (trx: Knex.Transaction, configuration: Configuration): Promise<void> => {
  await trx('configurations').insert(columns.toRow(configuration)).onConflict('client_id').merge();
};

const LOCK_CONFIGURATIONS_UNDER_OTHER_KEYS = {
  name: 'lock_configurations_under_other_keys',
  text: `SELECT ${columns.select('c')} FROM configurations c WHERE secret_key_id <> $1
    ORDER BY client_id LIMIT $2 FOR UPDATE SKIP LOCKED`,
};

/** Returns up to `limit` configurations whose secret is sealed under another key, locked until `trx` ends. */
export const listConfigurationsUnderOtherKeys = async (
  trx: Knex.Transaction,
  keyId: string,
  limit: number,
): Promise<Configuration[]> =>
  await runPrepared<Configuration>(trx, LOCK_CONFIGURATIONS_UNDER_OTHER_KEYS, [keyId, limit]);

export const updateConfigurationSecret = async (
  trx: Knex.Transaction,
  clientId: string,
  { keyId, sealed }: SealedSecret,
): Promise<void> => {
  await trx('configurations').where({ client_id: clientId }).update({ secret_key_id: keyId, secret_sealed: sealed });
};

export const deleteConfigurationRow = async (trx: Knex.Transaction, clientId: string): Promise<void> => {
  await trx('configurations').where({ client_id: clientId }).delete();
};
