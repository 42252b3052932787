import { type ConsoleApi, expectStatus, readField, readText } from './console-api.ts';

const NAME = 'Sample Page';
const DESCRIPTION = 'Chats from the browser alone, without a server.';
const APPS = '/v1/integrations/apps';

export interface EnsurePageAppDeps {
  readonly api: ConsoleApi;
  readonly token: string;
  readonly redirectUri: string;
}

/** Ensures the public app of the single page with the current redirect URI, and returns its id. */
export const ensurePageApp = async ({ api, token, redirectUri }: EnsurePageAppDeps): Promise<string> => {
  const list = { method: 'GET', path: APPS } as const;
  const apps = readField(expectStatus(list, await api({ ...list, token }), 200), 'data');
  const known: unknown = Array.isArray(apps)
    ? apps.find((app) => readField(app, 'name') === NAME && readField(app, 'client_type') === 'public')
    : undefined;
  if (known === undefined) {
    const call = { method: 'POST', path: APPS } as const;
    const body = { name: NAME, description: DESCRIPTION, client_type: 'public', redirect_uris: [redirectUri] };
    return readText(expectStatus(call, await api({ ...call, token, body }), 201), 'client_id');
  }
  const clientId = readText(known, 'client_id');
  const uris = readField(known, 'redirect_uris');
  if (!Array.isArray(uris) || !uris.includes(redirectUri)) {
    const call = { method: 'PATCH', path: `${APPS}/${clientId}` } as const;
    // Keeps an app inactive if its owner has deactivated it.
    const body = { active: readField(known, 'active') === true, redirect_uris: [redirectUri] };
    expectStatus(call, await api({ ...call, token, body }), 200);
  }
  return clientId;
};
