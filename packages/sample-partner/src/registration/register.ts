import type { ConsoleApi } from './console-api.ts';
import { ensureApp } from './ensure-app.ts';
import { ensurePageApp } from './ensure-page-app.ts';
import { ensureWebhook } from './ensure-webhook.ts';
import { readCurrency } from './read-currency.ts';
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

/** Brings the account, the app and its webhook to the desired state; idempotent. Throws `RegistrationError`. */
export const register = async (deps: RegisterDeps): Promise<Registration> => {
  const { api, file, redirectUri, pageRedirectUri, webhookUrl } = deps;
  const token = await signIn(deps);
  try {
    const { clientId, clientSecret } = await ensureApp({ api, file, token, redirectUri });
    const { signingSecret } = await ensureWebhook({ api, file, token, clientId, url: webhookUrl });
    const pageClientId = await ensurePageApp({ api, token, redirectUri: pageRedirectUri });
    return { clientId, clientSecret, signingSecret, pageClientId, currency: await readCurrency(api) };
  } finally {
    // The session is no longer needed. If this fails, it expires.
    await api({ method: 'DELETE', path: '/v1/console/session', token }).catch(() => undefined);
  }
};
