import type { ConsoleApi } from './console-api.ts';
import { expectStatus, RegistrationError, readField, readText } from './console-api.ts';
import { ensureApp } from './ensure-app.ts';
import { ensurePublicApp } from './ensure-public-app.ts';
import { ensureWebhook } from './ensure-webhook.ts';
import type { RegistrationFile } from './registration-file.ts';
import { signIn } from './sign-in.ts';

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
