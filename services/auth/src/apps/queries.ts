import type { Executor, Transaction } from '../transact.ts';
import type { AppRecord } from './app.ts';
import type { ClientType } from './redirect-uri.ts';

interface Row {
  client_id: string;
  owner_user_id: string;
  name: string;
  description: string | null;
  client_type: ClientType;
  redirect_uris: string[];
  homepage_url: string | null;
  privacy_policy_url: string | null;
  active: boolean;
  refresh_grace_seconds: number;
  require_pushed_authorization_requests: boolean;
  dpop_bound_access_tokens: boolean;
  version: number;
  created_at: Date;
  updated_at: Date;
  secret_rotated_at: Date | null;
  deleted_at: Date | null;
}

const toRecord = (row: Row): AppRecord => ({
  clientId: row.client_id,
  ownerUserId: row.owner_user_id,
  name: row.name,
  description: row.description,
  clientType: row.client_type,
  redirectUris: row.redirect_uris,
  homepageUrl: row.homepage_url,
  privacyPolicyUrl: row.privacy_policy_url,
  active: row.active,
  refreshGraceSeconds: row.refresh_grace_seconds,
  requiresPushedRequests: row.require_pushed_authorization_requests,
  requiresBoundTokens: row.dpop_bound_access_tokens,
  version: row.version,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  secretRotatedAt: row.secret_rotated_at,
});

const toColumns = (app: AppRecord) => ({
  name: app.name,
  description: app.description,
  redirect_uris: [...app.redirectUris],
  homepage_url: app.homepageUrl,
  privacy_policy_url: app.privacyPolicyUrl,
  active: app.active,
  refresh_grace_seconds: app.refreshGraceSeconds,
  require_pushed_authorization_requests: app.requiresPushedRequests,
  dpop_bound_access_tokens: app.requiresBoundTokens,
  version: app.version,
  updated_at: app.updatedAt,
  secret_rotated_at: app.secretRotatedAt,
});

const present = (executor: Executor) => executor<Row>('apps').whereNull('deleted_at');

/** Stores a new app. */
export const insertApp = async (trx: Transaction, app: AppRecord): Promise<void> => {
  await trx('apps').insert({
    client_id: app.clientId,
    owner_user_id: app.ownerUserId,
    client_type: app.clientType,
    created_at: app.createdAt,
    ...toColumns(app),
  });
};

/** Writes a locked app back. */
export const updateAppRow = async (trx: Transaction, app: AppRecord): Promise<void> => {
  await trx('apps').where({ client_id: app.clientId }).update(toColumns(app));
};

/** The app of an id, unless it was deleted. */
export const findAppById = async (executor: Executor, clientId: string): Promise<AppRecord | undefined> => {
  const row = await present(executor).where({ client_id: clientId }).first();
  return row === undefined ? undefined : toRecord(row);
};

/** The apps of these ids that were not deleted. */
export const listAppsByIds = async (executor: Executor, clientIds: readonly string[]): Promise<AppRecord[]> =>
  (await present(executor).whereIn('client_id', clientIds)).map(toRecord);

/** The apps of an owner in the order of registration. */
export const listAppsByOwner = async (executor: Executor, ownerUserId: string): Promise<AppRecord[]> =>
  (await present(executor).where({ owner_user_id: ownerUserId }).orderBy('client_id')).map(toRecord);

/** An owner's app, locked for a change until the transaction ends; a consent to it waits. */
export const lockAppOfOwner = async (
  trx: Transaction,
  key: { clientId: string; ownerUserId: string },
): Promise<AppRecord | undefined> => {
  const row = await present(trx).where({ client_id: key.clientId, owner_user_id: key.ownerUserId }).forUpdate().first();
  return row === undefined ? undefined : toRecord(row);
};

/** An app, held as it is until the transaction ends: it can be neither changed nor suspended meanwhile. */
export const holdApp = async (trx: Transaction, clientId: string): Promise<AppRecord | undefined> => {
  const row = await present(trx).where({ client_id: clientId }).forShare().first();
  return row === undefined ? undefined : toRecord(row);
};

/** Makes an app invisible; its row stays until its connections have ended. */
export const markAppDeleted = async (trx: Transaction, clientId: string, now: Date): Promise<void> => {
  await trx('apps').where({ client_id: clientId }).update({ active: false, deleted_at: now, updated_at: now });
};

/** An app that was marked as deleted. */
export const findDeletedApp = async (executor: Executor, clientId: string): Promise<AppRecord | undefined> => {
  const row = await executor<Row>('apps').where({ client_id: clientId }).whereNotNull('deleted_at').first();
  return row === undefined ? undefined : toRecord(row);
};

/** Removes an app with its secrets, its icon and its suspension. */
export const deleteAppRow = async (trx: Transaction, clientId: string): Promise<void> => {
  await trx('apps').where({ client_id: clientId }).delete();
};
