import type { ConsoleApi } from './console-api.ts';
import { ensureApp } from './ensure-app.ts';
import { ensureWebhook } from './ensure-webhook.ts';
import type { RegistrationFile } from './registration-file.ts';
import { signIn } from './sign-in.ts';

/** What registering needs. */
export interface RegisterDeps {
  readonly api: ConsoleApi;
  readonly file: RegistrationFile;
  readonly newSecret: () => string;
  /** Where this app can be reached now. */
  readonly redirectUri: string;
  readonly webhookUrl: string;
}

/** What the app needs to know of its registration. */
export interface Registration {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly signingSecret: string;
}

/** Brings the account, the app and its webhook to where they should be, however often it runs. Throws `RegistrationError`. */
export const register = async (deps: RegisterDeps): Promise<Registration> => {
  const { api, file, redirectUri, webhookUrl } = deps;
  const token = await signIn(deps);
  try {
    const { clientId, clientSecret } = await ensureApp({ api, file, token, redirectUri });
    const { signingSecret } = await ensureWebhook({ api, file, token, clientId, url: webhookUrl });
    return { clientId, clientSecret, signingSecret };
  } finally {
    // The session was for this alone. One that cannot be ended now ends by itself.
    await api({ method: 'DELETE', path: '/v1/console/session', token }).catch(() => undefined);
  }
};
