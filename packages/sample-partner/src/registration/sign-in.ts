import { type ConsoleApi, expectStatus, RegistrationError, readText } from './console-api.ts';
import type { Credentials, RegistrationFile } from './registration-file.ts';

const BUSINESS_NAME = 'Sample Partner Ltd';
const ACCOUNT_DOMAIN = 'sample-partner.example';
const ACCOUNTS = { method: 'POST', path: '/v1/console/accounts' } as const;
const SESSIONS = { method: 'POST', path: '/v1/console/sessions' } as const;

/** What signing in needs. */
export interface SignInDeps {
  readonly api: ConsoleApi;
  readonly file: RegistrationFile;
  /** Text that nobody can guess, of at least 12 characters. */
  readonly newSecret: () => string;
}

/**
 * Signs in as the demo business and answers the session token; makes the account where there is none. Where the address is
 * taken and its password lost, another address is used.
 */
export const signIn = async ({ api, file, newSecret }: SignInDeps): Promise<string> => {
  const known = file.read().credentials;
  const token = known === undefined ? undefined : await trySession(api, known);
  if (token !== undefined) return token;
  for (const email of [known?.email ?? `demo-business@${ACCOUNT_DOMAIN}`, spareAddress(newSecret)]) {
    const credentials = { email, password: known?.email === email ? known.password : newSecret() };
    // Before the account: a password that is lost on the way would close it for ever.
    file.write({ credentials });
    if (!(await createAccount(api, credentials))) continue;
    const first = await trySession(api, credentials);
    if (first !== undefined) return first;
  }
  throw new RegistrationError('no account of the demo business can be signed in to');
};

const spareAddress = (newSecret: () => string): string =>
  `demo-business-${newSecret()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 8)}@${ACCOUNT_DOMAIN}`;

/** Answers undefined where the service does not take these credentials. */
const trySession = async (api: ConsoleApi, credentials: Credentials): Promise<string | undefined> => {
  const answer = await api({ ...SESSIONS, body: credentials });
  if (answer.status === 401) return undefined;
  return readText(expectStatus(SESSIONS, answer, 201), 'session_token');
};

/** Answers false where the address is taken. */
const createAccount = async (api: ConsoleApi, credentials: Credentials): Promise<boolean> => {
  const account = { ...credentials, account_type: 'business', business_name: BUSINESS_NAME, locale: 'en' };
  const answer = await api({ ...ACCOUNTS, body: account });
  if (answer.status === 409) return false;
  expectStatus(ACCOUNTS, answer, 201);
  return true;
};
