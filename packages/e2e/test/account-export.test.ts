import { expect, test } from 'vitest';
import { call } from './support/api.ts';
import { fundKey, registerApp, signUp, subscribe } from './support/people.ts';

test('exports what every service holds about a person, and nothing secret', async () => {
  const person = await signUp('business');
  await subscribe(person);
  const app = await registerApp(person);
  const key = await fundKey(person);
  const chat = await call('POST', '/v1/chat/completions', {
    token: key,
    body: { model: 'svc-chat', messages: [{ role: 'user', content: 'a sentence that nothing keeps' }] },
  });
  expect(chat.status, chat.text).toBe(200);
  await expect
    .poll(async () => {
      const usage = await call('GET', '/v1/gateway/usage', { token: person.token });
      return Object.keys(usage.body['data'] ?? {}).length;
    })
    .toBe(1);

  const exported = await call('GET', '/v1/console/account/export', { token: person.token });
  expect(exported.status, exported.text).toBe(200);
  expect(exported.headers.get('content-disposition')).toContain('svc-export.json');
  expect(exported.body).toMatchObject({
    version: 1,
    svc_user_id: person.userId,
    auth: { account: [{ email: person.email }], sessions: [{}], apps: [{ client_id: app.clientId }] },
    billing: { subscriptions: [{ status: 'active' }], wallets: [{ currency: 'EUR' }] },
    inference_gateway: { api_keys: [{ name: 'Test' }], usage_records: [{ kind: 'api_key', model: 'svc-chat' }] },
    webhook_dispatcher: { connections: [], events: [], event_retention: [{ days: 30 }] },
  });
  for (const secret of [person.password, person.token, key, app.clientSecret ?? '', 'a sentence that nothing keeps']) {
    expect(exported.text).not.toContain(secret);
  }
  expect((await call('GET', '/v1/console/account/export')).status).toBe(401);
});
