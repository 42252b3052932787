import { camelKeys, type SnakeKeys, snakeKeys } from '../key-case.ts';
import type { Executor, Transaction } from '../transact.ts';
import type { AppRecord, NewAppRecord } from './app.ts';

type Row = SnakeKeys<AppRecord> & { readonly deleted_at: Date | null };

const toRecord = ({ deleted_at: _deletedAt, ...row }: Row): AppRecord => camelKeys(row);

const present = (executor: Executor) => executor<Row>('apps').whereNull('deleted_at');

/** Stores a new app and returns it with defaults applied. */
export const insertApp = async (trx: Transaction, app: NewAppRecord): Promise<AppRecord> => {
  const [row] = await trx('apps').insert(snakeKeys(app)).returning<Row[]>('*');
  if (row === undefined) throw new Error('an insert returned no row');
  return toRecord(row);
};

/** Updates a locked app. */
export const updateAppRow = async (trx: Transaction, app: AppRecord): Promise<void> => {
  await trx('apps').where({ client_id: app.clientId }).update(snakeKeys(app));
};

/** Finds an app by its id, unless it is deleted. */
export const findAppById = async (executor: Executor, clientId: string): Promise<AppRecord | undefined> => {
  const row = await present(executor).where({ client_id: clientId }).first();
  return row === undefined ? undefined : toRecord(row);
};

/** Lists the apps with these ids, except deleted ones. */
export const listAppsByIds = async (executor: Executor, clientIds: readonly string[]): Promise<AppRecord[]> =>
  (await present(executor).whereIn('client_id', clientIds)).map(toRecord);

/** Lists the apps of an owner in order of registration. */
export const listAppsByOwner = async (executor: Executor, ownerUserId: string): Promise<AppRecord[]> =>
  (await present(executor).where({ owner_user_id: ownerUserId }).orderBy('client_id')).map(toRecord);

/** Locks an owner's app for a change until the transaction ends. Consents to it wait. */
export const lockAppOfOwner = async (
  trx: Transaction,
  key: { clientId: string; ownerUserId: string },
): Promise<AppRecord | undefined> => {
  const row = await present(trx).where({ client_id: key.clientId, owner_user_id: key.ownerUserId }).forUpdate().first();
  return row === undefined ? undefined : toRecord(row);
};

/** Locks an app for a change by an operator. */
export const lockApp = async (trx: Transaction, clientId: string): Promise<AppRecord | undefined> => {
  const row = await present(trx).where({ client_id: clientId }).forUpdate().first();
  return row === undefined ? undefined : toRecord(row);
};

/** Holds an app until the transaction ends, so that it is neither changed nor suspended meanwhile. */
export const holdApp = async (trx: Transaction, clientId: string): Promise<AppRecord | undefined> => {
  const row = await present(trx).where({ client_id: clientId }).forShare().first();
  return row === undefined ? undefined : toRecord(row);
};

/** An app of a client ID metadata document, as fetched. */
export type DocumentedApp = Pick<AppRecord, 'clientId' | 'name' | 'redirectUris' | 'homepageUrl' | 'privacyPolicyUrl'>;

/** Stores an app of a metadata document, or what has changed of it. A suspended one stays suspended. */
export const upsertDocumentedApp = async (trx: Transaction, app: DocumentedApp, now: Date): Promise<void> => {
  const fixed = { clientType: 'public', active: true, refreshGraceSeconds: 30, version: 1, createdAt: now } as const;
  await trx('apps')
    .insert(snakeKeys({ ...app, ...fixed, ownerUserId: null, updatedAt: now }))
    .onConflict('client_id')
    .merge(['name', 'redirect_uris', 'homepage_url', 'privacy_policy_url', 'updated_at']);
};

/** Marks an app as deleted. Its row stays until its connections have ended. */
export const markAppDeleted = async (trx: Transaction, clientId: string, now: Date): Promise<void> => {
  await trx('apps').where({ client_id: clientId }).update({ active: false, deleted_at: now, updated_at: now });
};

/** Finds an app that is marked as deleted. */
export const findDeletedApp = async (executor: Executor, clientId: string): Promise<AppRecord | undefined> => {
  const row = await executor<Row>('apps').where({ client_id: clientId }).whereNotNull('deleted_at').first();
  return row === undefined ? undefined : toRecord(row);
};

/** Deletes an app with its secrets, icon and suspension. */
export const deleteAppRow = async (trx: Transaction, clientId: string): Promise<void> => {
  await trx('apps').where({ client_id: clientId }).delete();
};

/** Locks the apps of an owner, except deleted ones. */
export const lockAppsOfOwner = async (trx: Transaction, ownerUserId: string): Promise<AppRecord[]> =>
  (await present(trx).where({ owner_user_id: ownerUserId }).orderBy('client_id').forUpdate()).map(toRecord);

/** Counts the apps of an owner, except deleted ones. */
export const countAppsOfOwner = async (executor: Executor, ownerUserId: string): Promise<number> => {
  const row = await present(executor)
    .where({ owner_user_id: ownerUserId })
    .count<{ count: string }>({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
};

/** Counts the apps of an owner, including deleted ones whose connections have not all ended. */
export const countAppRowsOfOwner = async (executor: Executor, ownerUserId: string): Promise<number> => {
  const row = await executor('apps')
    .where({ owner_user_id: ownerUserId })
    .count<{ count: string }>({ count: '*' })
    .first();
  return Number(row?.count ?? 0);
};
