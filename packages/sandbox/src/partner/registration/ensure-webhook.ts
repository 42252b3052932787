import { type ConsoleApi, expectStatus, RegistrationError, readField, readText } from './console-api.ts';
import type { RegistrationFile, WebhookRecord } from './registration-file.ts';

export interface EnsureWebhookDeps {
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
export const ensureWebhook = async (deps: EnsureWebhookDeps): Promise<WebhookRecord> => {
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
