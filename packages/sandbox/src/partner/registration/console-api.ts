import { type AppRecord, type RegistrationFile, readField } from './registration-file.ts';

const TIMEOUT_MS = 10_000;

/** A response of the service; `body` is its JSON, or undefined. */
export interface ApiAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  /** The console session token. */
  readonly token?: string;
  readonly body?: object;
}

/** Calls the service's public API as a business console does. */
export type ConsoleApi = (call: ApiCall) => Promise<ApiAnswer>;

/** Thrown if a call to the service fails. The message names the call and the service's error code, and no secret. */
export class RegistrationError extends Error {
  override readonly name = 'RegistrationError';
}

/** Creates the API client of one service. Calls throw `RegistrationError` if no response arrives. */
export const createConsoleApi =
  ({ baseUrl, signal }: { baseUrl: string; signal: AbortSignal }): ConsoleApi =>
  async ({ method, path, token, body }) => {
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: {
          accept: 'application/json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return { status: response.status, body: await readJson(response) };
    } catch (cause) {
      signal.throwIfAborted();
      throw new RegistrationError(`${method} ${path} got no response`, { cause });
    }
  };

/** Returns the body of a response with this status. Throws `RegistrationError` otherwise. */
export const expectStatus = (call: Pick<ApiCall, 'method' | 'path'>, answer: ApiAnswer, status: number): unknown => {
  if (answer.status === status) return answer.body;
  const code = readField(readField(answer.body, 'detail'), 'code');
  const told = typeof code === 'string' ? ` ${code}` : '';
  throw new RegistrationError(`${call.method} ${call.path} was answered ${answer.status}${told}`);
};

/** Returns a required text field. Throws `RegistrationError` if it is missing. */
export const readText = (value: unknown, name: string): string => {
  const field = readField(value, name);
  if (typeof field === 'string') return field;
  throw new RegistrationError(`a response of the service lacks ${name}`);
};

const readJson = async (response: Response): Promise<unknown> => {
  const text = await response.text();
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const NAME = 'Sample Partner';
const DESCRIPTION = 'Connects, chats, transcribes, and shows the webhooks that it receives.';
const APPS = '/v1/integrations/apps';

interface EnsureAppDeps {
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
