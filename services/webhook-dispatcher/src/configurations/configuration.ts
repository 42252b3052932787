import type { AccountWebhook, WebhookConfiguration } from '@svc/contracts';
import { recordColumns, runPrepared } from '@svc/database';
import type { Knex } from 'knex';
import type { LaneBlock } from '../events/index.ts';

/** Whose webhook it is. */
export interface WebhookOwner {
  /** An app's `client_id`, or an account's `svc_user_id`. */
  readonly ownerId: string;
  /** The account itself, or the owner of the app. */
  readonly accountId: string;
}

/** An owner's destination and its sealed secret. Within a generation only the secret changes. */
export interface Configuration extends WebhookOwner {
  readonly url: string;
  readonly generation: number;
  readonly createdAt: Date;
  readonly sealed: Buffer;
  /** Secret before the last rotation, which signs as well until it expires. */
  readonly previousSealed: Buffer | null;
  readonly previousExpiresAt: Date | null;
}

/** Previous secret of a configuration that has none. */
export const NO_PREVIOUS_SECRET = { previousSealed: null, previousExpiresAt: null } as const;

const toWireMembers = ({ url, generation, createdAt }: Configuration, block: LaneBlock | undefined) => ({
  url,
  generation,
  created_at: createdAt.toISOString(),
  state: block === undefined ? ('ok' as const) : ('blocked' as const),
  blocked_by_event_id: block?.eventId ?? null,
  paused_at: block?.pausedAt?.toISOString() ?? null,
});

export const toWireConfiguration = (
  configuration: Configuration,
  block: LaneBlock | undefined,
): WebhookConfiguration => ({ client_id: configuration.ownerId, ...toWireMembers(configuration, block) });

export const toWireAccountWebhook = (configuration: Configuration, block: LaneBlock | undefined): AccountWebhook => ({
  account_id: configuration.ownerId,
  ...toWireMembers(configuration, block),
});

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
