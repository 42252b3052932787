import { type CamelKeys, camelKeys, type SnakeKeys } from '@svc/database';
import { batchCalls } from '@svc/service-kit';
import type { ConnectedApp } from '../connections/index.ts';
import type { Executor } from '../transact.ts';
import { type AppRecord, iconUrl, listAppsByIds } from './app-record.ts';
import type { StoredSecret } from './client-secrets.ts';

/** Finds an app by its id; undefined if it was deleted. */
export type AppFinder = (clientId: string) => Promise<AppRecord | undefined>;

/** Maximum apps per query. */
const BATCH_MAX = 64;
const WAITING_MAX = 2_048;

/** Creates a finder that batches concurrent calls. Nothing is cached. */
export const createAppFinder = (database: Executor): AppFinder =>
  batchCalls({
    callsMax: BATCH_MAX,
    waitingMax: WAITING_MAX,
    run: async (clientIds: readonly string[]) => {
      const apps = await listAppsByIds(database, [...new Set(clientIds)]);
      const byId = new Map(apps.map((app) => [app.clientId, app]));
      return clientIds.map((clientId) => byId.get(clientId));
    },
  });

/** Finds the fields of these apps that a list of connections shows, by id. */
export const findConnectedApps = async (
  deps: { database: Executor; publicBaseUrl: string },
  clientIds: readonly string[],
): Promise<ReadonlyMap<string, ConnectedApp>> => {
  const apps = await listAppsByIds(deps.database, clientIds);
  return new Map(
    apps.map((app) => [
      app.clientId,
      { name: app.name, iconUrl: iconUrl(deps.publicBaseUrl, app.clientId), homepageUrl: app.homepageUrl },
    ]),
  );
};

/** Members of an app that `oauthClientJson` selects. */
const MEMBERS = [
  'client_id',
  'name',
  'client_type',
  'redirect_uris',
  'dpop_bound_access_tokens',
  'device_flow',
] as const;

/** An app as the token endpoint reads it. */
export interface OauthClient {
  readonly app: Pick<AppRecord, keyof CamelKeys<Record<(typeof MEMBERS)[number], never>>>;
  /** Empty for a public app. */
  readonly secrets: readonly StoredSecret[];
}

/** JSON returned by `oauthClientJson`. */
export type OauthClientJson = SnakeKeys<OauthClient['app']> & {
  readonly secrets: readonly { readonly digest: string; readonly expires_at: string | null }[] | null;
};

/**
 * Returns SQL that selects an active app with its secrets as one JSON value, so that a statement can read it together
 * with other data. Null if the app is unknown or deactivated.
 */
export const oauthClientJson = (clientId: string): string => `(
  SELECT json_build_object(
    ${MEMBERS.map((name) => `'${name}', a.${name}`).join(', ')},
    'secrets', CASE a.client_type WHEN 'confidential' THEN (
      SELECT json_agg(json_build_object('digest', encode(s.digest, 'base64'), 'expires_at', s.expires_at) ORDER BY s.created_at)
      FROM app_secrets s WHERE s.client_id = a.client_id
    ) END
  ) FROM apps a WHERE a.client_id = ${clientId} AND a.active AND a.deleted_at IS NULL
)`;

/** Parses the JSON returned by `oauthClientJson`. */
export const toOauthClient = ({ secrets, ...app }: OauthClientJson): OauthClient => ({
  app: camelKeys(app),
  secrets: (secrets ?? []).map(({ digest, expires_at: expiresAt }) => ({
    digest: Buffer.from(digest, 'base64'),
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  })),
});
