import { setTimeout as sleep } from 'node:timers/promises';
import { type ConsoleApi, ensureApp, expectStatus, RegistrationError, readText } from './console-api.ts';
import type { Credentials, RegistrationFile, WebhookRecord } from './registration-file.ts';
import { readField } from './registration-file.ts';

const BUSINESS_NAME = 'Sample Partner Ltd';
const ACCOUNT_DOMAIN = 'sample-partner.example';
const ACCOUNTS = { method: 'POST', path: '/v1/console/accounts' } as const;
const SESSIONS = { method: 'POST', path: '/v1/console/sessions' } as const;

interface SignInDeps {
  readonly api: ConsoleApi;
  readonly file: RegistrationFile;
  /** Returns a random string of at least 12 characters. */
  readonly newSecret: () => string;
}

/**
 * Signs in as the demo business and returns the session token. Creates the account if there is none, under another
 * address if the first is taken and its password lost.
 */
const signIn = async ({ api, file, newSecret }: SignInDeps): Promise<string> => {
  const known = file.read().credentials;
  const token = known === undefined ? undefined : await trySession(api, known);
  if (token !== undefined) return token;
  for (const email of [known?.email ?? `demo-business@${ACCOUNT_DOMAIN}`, spareAddress(newSecret)]) {
    const credentials = { email, password: known?.email === email ? known.password : newSecret() };
    // Saved before the account is created: a lost password would lock the account for ever.
    file.write({ credentials });
    if (!(await createAccount(api, credentials))) continue;
    const first = await trySession(api, credentials);
    if (first !== undefined) return first;
  }
  throw new RegistrationError('cannot sign in to any account of the demo business');
};

const spareAddress = (newSecret: () => string): string =>
  `demo-business-${newSecret()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 8)}@${ACCOUNT_DOMAIN}`;

/** Returns undefined if the service rejects these credentials. */
const trySession = async (api: ConsoleApi, credentials: Credentials): Promise<string | undefined> => {
  const answer = await api({ ...SESSIONS, body: credentials });
  if (answer.status === 401) return undefined;
  return readText(expectStatus(SESSIONS, answer, 201), 'session_token');
};

/** Returns false if the address is taken. */
const createAccount = async (api: ConsoleApi, credentials: Credentials): Promise<boolean> => {
  const account = { ...credentials, account_type: 'business', business_name: BUSINESS_NAME, locale: 'en' };
  const answer = await api({ ...ACCOUNTS, body: account });
  if (answer.status === 409) return false;
  expectStatus(ACCOUNTS, answer, 201);
  return true;
};

interface EnsureWebhookDeps {
  readonly api: ConsoleApi;
  readonly file: RegistrationFile;
  readonly token: string;
  readonly clientId: string;
  readonly url: string;
}

/**
 * Ensures the app's webhook at this URL with a signing secret that we know. Retries an event that failed while the app
 * was down, since it would block all later ones.
 */
const ensureWebhook = async (deps: EnsureWebhookDeps): Promise<WebhookRecord> => {
  const { api, file, token, clientId, url } = deps;
  const known = file.read().webhook;
  const call = { method: 'GET', path: `/v1/integrations/apps/${clientId}/webhook` } as const;
  const answer = await api({ ...call, token });
  if (answer.status === 404) return await configure(deps);
  const configuration = expectStatus(call, answer, 200);
  const isKnown =
    known?.clientId === clientId &&
    known.generation === readField(configuration, 'generation') &&
    url === readField(configuration, 'url');
  if (!isKnown) return await configure(deps);
  const failed = readField(configuration, 'blocked_by_event_id');
  if (typeof failed === 'string') await retry(deps, failed);
  return known;
};

const configure = async ({ api, file, token, clientId, url }: EnsureWebhookDeps): Promise<WebhookRecord> => {
  const call = { method: 'PUT', path: `/v1/integrations/apps/${clientId}/webhook` } as const;
  const configured = expectStatus(call, await api({ ...call, token, body: { url } }), 200);
  const generation = readField(configured, 'generation');
  if (typeof generation !== 'number') throw new RegistrationError('the webhook configuration lacks its generation');
  const record = { clientId, generation, signingSecret: readText(configured, 'signing_secret') };
  file.write({ webhook: record });
  return record;
};

const retry = async ({ api, token, clientId }: EnsureWebhookDeps, eventId: string): Promise<void> => {
  const path = `/v1/integrations/apps/${clientId}/webhook/events/${eventId}/recover`;
  const call = { method: 'POST', path } as const;
  const answer = await api({ ...call, token, body: { action: 'retry' } });
  // 409: another request was faster.
  if (answer.status !== 409) expectStatus(call, answer, 200);
};

const APPS = '/v1/integrations/apps';

/** A public app beside the one with a secret. */
interface PublicApp {
  readonly name: string;
  readonly description: string;
  readonly redirectUri: string;
  readonly deviceFlow: boolean;
}

/** Ensures a public app with its current redirect URI, and returns its id. */
const ensurePublicApp = async (
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

export interface RegisterDeps {
  readonly api: ConsoleApi;
  readonly file: RegistrationFile;
  readonly newSecret: () => string;
  /** Current redirect URI of this app. */
  readonly redirectUri: string;
  /** Current redirect URI of the single page. */
  readonly pageRedirectUri: string;
  readonly webhookUrl: string;
}

/** Result of the registration. */
export interface Registration {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
  /** The single page, a public app. */
  readonly pageClientId: string;
  /** Currency of the service's plans. */
  readonly currency: string;
}

/** The single page. */
const PAGE = {
  name: 'Sample Page',
  description: 'Chats from the browser alone, without a server.',
  deviceFlow: false,
};
/** The command-line twin, which connects with a code. */
const TERMINAL = { name: 'Sample Terminal', description: 'Chats in a terminal.', deviceFlow: true };

/** Brings the account, the app and its webhook to the desired state; idempotent. Throws `RegistrationError`. */
export const register = async (deps: RegisterDeps): Promise<Registration> => {
  const { api, file, redirectUri, pageRedirectUri, webhookUrl } = deps;
  const token = await signIn(deps);
  try {
    const { clientId, clientSecret } = await ensureApp({ api, file, token, redirectUri });
    const { signingSecret } = await ensureWebhook({ api, file, token, clientId, url: webhookUrl });
    const pageClientId = await ensurePublicApp({ api, token }, { ...PAGE, redirectUri: pageRedirectUri });
    const terminalClientId = await ensurePublicApp({ api, token }, { ...TERMINAL, redirectUri });
    file.write({ terminalClientId });
    return { clientId, clientSecret, signingSecret, pageClientId, currency: await readCurrency(api) };
  } finally {
    // The session is no longer needed. If this fails, it expires.
    await api({ method: 'DELETE', path: '/v1/console/session', token }).catch(() => undefined);
  }
};

/** Returns the currency of the service's plans. Throws `RegistrationError`. */
const readCurrency = async (api: ConsoleApi): Promise<string> => {
  const call = { method: 'GET', path: '/v1/subscriptions/plans' } as const;
  const plans = readField(expectStatus(call, await api(call), 200), 'data');
  if (!Array.isArray(plans)) throw new RegistrationError('a response of the service lacks data');
  return readText(readField(plans[0], 'price'), 'currency');
};

const PAUSE_MIN_MS = 500;
const PAUSE_MAX_MS = 30_000;

interface KeepTryingOptions {
  readonly signal: AbortSignal;
  /** Called after every failure with the pause before the next attempt. */
  readonly onFailure: (error: unknown, pauseMs: number) => void;
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Retries with growing pauses until the work succeeds. Rejects only if the signal aborts. */
export const keepTrying = async <T>(work: () => Promise<T>, options: KeepTryingOptions): Promise<T> => {
  const { signal, onFailure, wait = (ms) => sleep(ms, undefined, { signal }) } = options;
  for (let pauseMs = PAUSE_MIN_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MAX_MS)) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      onFailure(error, pauseMs);
      await wait(pauseMs, signal);
    }
  }
};
