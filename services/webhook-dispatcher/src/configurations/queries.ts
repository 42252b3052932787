import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { Configuration } from './configuration.ts';

const columns = recordColumns<Configuration>({
  ownerId: 'owner_id text',
  accountId: 'account_id text',
  url: 'url text',
  generation: 'generation integer',
  createdAt: 'created_at timestamptz',
  sealed: 'secret_sealed bytea',
  previousSealed: 'previous_sealed bytea',
  previousExpiresAt: 'previous_expires_at timestamptz',
});

const LIST_CONFIGURATIONS = {
  name: 'list_configurations',
  text: `SELECT ${columns.select('c')}, l.secret_version AS "secretVersion"
    FROM configurations c JOIN lanes l USING (owner_id) WHERE owner_id = ANY($1::text[])`,
};

/** A configuration with the number of its secret, which its lane holds. */
export interface VersionedConfiguration extends Configuration {
  readonly secretVersion: number;
}

export const listConfigurations = async (
  database: Knex,
  ownerIds: readonly string[],
): Promise<VersionedConfiguration[]> =>
  await runPrepared<VersionedConfiguration>(database, LIST_CONFIGURATIONS, [ownerIds]);

export const findConfigurationByOwnerId = async (
  database: Knex,
  ownerId: string,
): Promise<VersionedConfiguration | undefined> => {
  const [configuration] = await listConfigurations(database, [ownerId]);
  return configuration;
};

export const upsertConfiguration = async (trx: Knex.Transaction, configuration: Configuration): Promise<void> => {
  await trx('configurations').insert(columns.toRow(configuration)).onConflict('owner_id').merge();
};

/** Writes a configuration back whose secrets have changed. */
export const updateConfiguration = async (trx: Knex.Transaction, configuration: Configuration): Promise<void> => {
  await trx('configurations').where({ owner_id: configuration.ownerId }).update(columns.toRow(configuration));
};

/** Deletes a configuration. Returns false if there was none. */
export const deleteConfiguration = async (trx: Knex.Transaction, ownerId: string): Promise<boolean> =>
  (await trx('configurations').where({ owner_id: ownerId }).delete()) === 1;
