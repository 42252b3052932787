import { type App, type AppFields, appFieldsSchema, type registerAppRequestSchema } from '@svc/contracts';
import { type CamelKeys, camelKeys, type SnakeKeys, snakeKeys } from '@svc/database';
import { invalidRequest } from '@svc/service-kit';
import type { z } from 'zod';
import type { Executor, Transaction } from '../transact.ts';
import { type ClientType, findRedirectUriFault } from './redirect-uri.ts';

/** Fields of a registration. Omitted fields are null. */
export type RegistrationFields = CamelKeys<Omit<z.output<typeof registerAppRequestSchema>, 'client_type'>>;

/** An app as stored. */
export interface AppRecord extends CamelKeys<AppFields> {
  readonly clientId: string;
  /** Null for an app of a client ID metadata document, which no business registered. */
  readonly ownerUserId: string | null;
  readonly clientType: ClientType;
  readonly active: boolean;
  /** Set while the app is suspended by an operator. */
  readonly suspendedAt: Date | null;
  readonly version: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly secretRotatedAt: Date | null;
}

/** An app to store. */
type NewAppRecord = RegistrationFields & Omit<AppRecord, keyof AppRecord & keyof RegistrationFields>;

/** Returns the address of an app's icon, which requires a console session. */
export const iconUrl = (publicBaseUrl: string, clientId: string): string =>
  `${publicBaseUrl}/v1/integrations/apps/${encodeURIComponent(clientId)}/icon`;

/** Maps an app to the JSON that its owner sees. */
export const toAppJson = (app: AppRecord, extra: { publicBaseUrl: string; connectionsCount: number }): App => ({
  ...toFieldsJson(app),
  client_id: app.clientId,
  client_type: app.clientType,
  icon_url: iconUrl(extra.publicBaseUrl, app.clientId),
  active: app.active,
  suspended_at: app.suspendedAt?.toISOString() ?? null,
  created_at: app.createdAt.toISOString(),
  updated_at: app.updatedAt.toISOString(),
  secret_rotated_at: app.secretRotatedAt?.toISOString() ?? null,
  connections_count: extra.connectionsCount,
});

/** Only the names are taken from the schema: a stored value may violate a newer rule. */
const FIELD_NAMES = appFieldsSchema.keyof().options;

const toFieldsJson = (app: AppRecord): AppFields => {
  const row = snakeKeys(app);
  // The names are the keys of AppFields, and a row has them all.
  return Object.fromEntries(FIELD_NAMES.map((name) => [name, row[name]])) as AppFields;
};

/** An app that a business registered. */
type OwnedApp = AppRecord & { readonly ownerUserId: string };

/** Returns true for an app that a business registered. */
export const isOwned = (app: AppRecord): app is OwnedApp => app.ownerUserId !== null;

/** Returns the data of facts about an app. */
export const appFact = (app: OwnedApp) => ({
  client_id: app.clientId,
  owner_user_id: app.ownerUserId,
  name: app.name,
  active: app.active,
});

/** Returns the outbox aggregate of an app. */
export const appAggregate = (clientId: string): string => `app:${clientId}`;

/** Throws 422 for every redirect URI that is invalid or repeated. */
export const checkRedirectUris = (uris: readonly string[], clientType: ClientType): void => {
  const issues = uris.flatMap((uri, index) => {
    const isRepeated = uris.indexOf(uri) < index;
    const fault = isRepeated ? 'the redirect URI is repeated' : findRedirectUriFault(uri, clientType);
    return fault === undefined
      ? []
      : [{ loc: ['body', 'redirect_uris', index], type: 'value_error', msg: `Value error, ${fault}` }];
  });
  if (issues.length > 0) throw invalidRequest(issues);
};

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
