import { type ConsoleApi, expectStatus, readField, readText } from './console-api.ts';

const APPS = '/v1/integrations/apps';

/** A public app beside the one with a secret. */
export interface PublicApp {
  readonly name: string;
  readonly description: string;
  readonly redirectUri: string;
  readonly deviceFlow: boolean;
}

/** Ensures a public app with its current redirect URI, and returns its id. */
export const ensurePublicApp = async (
  { api, token }: { readonly api: ConsoleApi; readonly token: string },
  { name, description, redirectUri, deviceFlow }: PublicApp,
): Promise<string> => {
  const list = { method: 'GET', path: APPS } as const;
  const apps = readField(expectStatus(list, await api({ ...list, token }), 200), 'data');
  const known: unknown = Array.isArray(apps)
    ? apps.find((app) => readField(app, 'name') === name && readField(app, 'client_type') === 'public')
    : undefined;
  const fields = { redirect_uris: [redirectUri], device_flow: deviceFlow };
  if (known === undefined) {
    const call = { method: 'POST', path: APPS } as const;
    const body = { name, description, client_type: 'public', ...fields };
    return readText(expectStatus(call, await api({ ...call, token, body }), 201), 'client_id');
  }
  const clientId = readText(known, 'client_id');
  const uris = readField(known, 'redirect_uris');
  const isCurrent = Array.isArray(uris) && uris.includes(redirectUri) && readField(known, 'device_flow') === deviceFlow;
  if (!isCurrent) {
    const call = { method: 'PATCH', path: `${APPS}/${clientId}` } as const;
    // Keeps an app inactive if its owner has deactivated it.
    const body = { active: readField(known, 'active') === true, ...fields };
    expectStatus(call, await api({ ...call, token, body }), 200);
  }
  return clientId;
};
