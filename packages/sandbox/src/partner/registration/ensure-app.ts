import { type ConsoleApi, expectStatus, readField, readText } from './console-api.ts';
import type { AppRecord, RegistrationFile } from './registration-file.ts';

const NAME = 'Sample Partner';
const DESCRIPTION = 'Connects, chats, transcribes, and shows the webhooks that it receives.';
const APPS = '/v1/integrations/apps';

export interface EnsureAppDeps {
  readonly api: ConsoleApi;
  readonly file: RegistrationFile;
  readonly token: string;
  readonly redirectUri: string;
}

/** Ensures the app with a working secret and the current redirect URI. Registered once, found again later. */
export const ensureApp = async (deps: EnsureAppDeps): Promise<AppRecord> => {
  const { file } = deps;
  const known = file.read().app;
  const registered = await findApp(deps, known?.clientId);
  if (registered === undefined) return await registerApp(deps);
  const clientId = readText(registered, 'client_id');
  if (!hasRedirectUri(registered, deps.redirectUri)) await updateRedirectUri(deps, clientId, registered);
  const isSecretKnown =
    known?.clientId === clientId && known.secretRotatedAt === readField(registered, 'secret_rotated_at');
  return isSecretKnown ? known : await rotateSecret(deps, clientId);
};

/** Returns the recorded app or, if the record is lost, one that an earlier start registered under this name. */
const findApp = async ({ api, token }: EnsureAppDeps, clientId: string | undefined): Promise<unknown> => {
  const call = { method: 'GET', path: APPS } as const;
  const list = readField(expectStatus(call, await api({ ...call, token }), 200), 'data');
  const apps: unknown[] = Array.isArray(list) ? list : [];
  return (
    apps.find((app) => readField(app, 'client_id') === clientId) ??
    apps.find((app) => readField(app, 'name') === NAME && readField(app, 'client_type') === 'confidential')
  );
};

const registerApp = async ({ api, file, token, redirectUri }: EnsureAppDeps): Promise<AppRecord> => {
  const call = { method: 'POST', path: APPS } as const;
  const body = { name: NAME, description: DESCRIPTION, client_type: 'confidential', redirect_uris: [redirectUri] };
  const app = expectStatus(call, await api({ ...call, token, body }), 201);
  return remember(file, { clientId: readText(app, 'client_id'), app });
};

const hasRedirectUri = (app: unknown, redirectUri: string): boolean => {
  const uris = readField(app, 'redirect_uris');
  return Array.isArray(uris) && uris.includes(redirectUri);
};

const updateRedirectUri = async ({ api, token, redirectUri }: EnsureAppDeps, clientId: string, app: unknown) => {
  const call = { method: 'PATCH', path: `${APPS}/${clientId}` } as const;
  // Keeps an app inactive if its owner has deactivated it.
  const body = { active: readField(app, 'active') === true, redirect_uris: [redirectUri] };
  expectStatus(call, await api({ ...call, token, body }), 200);
};

const rotateSecret = async ({ api, file, token }: EnsureAppDeps, clientId: string): Promise<AppRecord> => {
  const call = { method: 'POST', path: `${APPS}/${clientId}/rotate-secret` } as const;
  return remember(file, { clientId, app: expectStatus(call, await api({ ...call, token }), 200) });
};

const remember = (file: RegistrationFile, { clientId, app }: { clientId: string; app: unknown }): AppRecord => {
  const rotatedAt = readField(app, 'secret_rotated_at');
  const record = {
    clientId,
    clientSecret: readText(app, 'client_secret'),
    secretRotatedAt: typeof rotatedAt === 'string' ? rotatedAt : null,
  };
  file.write({ app: record });
  return record;
};
