import { type ConsoleApi, expectStatus, RegistrationError, readText } from './console-api.ts';
import type { Credentials, RegistrationFile } from './registration-file.ts';

const BUSINESS_NAME = 'Sample Partner Ltd';
const ACCOUNT_DOMAIN = 'sample-partner.example';
const ACCOUNTS = { method: 'POST', path: '/v1/console/accounts' } as const;
const SESSIONS = { method: 'POST', path: '/v1/console/sessions' } as const;

export interface SignInDeps {
  readonly api: ConsoleApi;
  readonly file: RegistrationFile;
  /** Returns a random string of at least 12 characters. */
  readonly newSecret: () => string;
}

/**
 * Signs in as the demo business and returns the session token. Creates the account if there is none, under another
 * address if the first is taken and its password lost.
 */
export const signIn = async ({ api, file, newSecret }: SignInDeps): Promise<string> => {
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
