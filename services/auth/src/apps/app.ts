import { type App, type AppFields, appFieldsSchema, type registerAppRequestSchema } from '@svc/contracts';
import { invalidRequest } from '@svc/service-kit';
import type { z } from 'zod';
import { type CamelKeys, snakeKeys } from '../key-case.ts';
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
export type NewAppRecord = RegistrationFields & Omit<AppRecord, keyof AppRecord & keyof RegistrationFields>;

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
export type OwnedApp = AppRecord & { readonly ownerUserId: string };

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
