import * as client from 'openid-client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call } from './support/api.ts';
import { type ConnectedPartner, chat, connect, sseData } from './support/partner.ts';
import { type Person, type RegisteredApp, registerApp, signUp, subscribe } from './support/people.ts';
import { isSignedWith, type Receiver, startDocumentHost, startReceiver } from './support/receiver.ts';

/** The product's main job from start to end, as performed by a business, a user and a partner's stock OAuth client. */
describe('the main job', () => {
  let business: Person;
  let user: Person;
  let app: RegisteredApp;
  let receiver: Receiver;
  let signingSecret: string;
  let partner: ConnectedPartner;

  beforeAll(async () => {
    receiver = await startReceiver();
  });
  afterAll(() => receiver.close());

  const usedMicros = async (): Promise<number> => {
    const usage = await call('GET', '/v1/integrations/usage', { token: partner.accessToken });
    expect(usage.status, usage.text).toBe(200);
    expect(usage.body.weekly.used_micros).toBe(usage.body.monthly.used_micros);
    return Number(usage.body.weekly.used_micros);
  };

  test('a business registers an app and, in the next call, its webhook', async () => {
    business = await signUp('business');
    app = await registerApp(business);
    const configured = await call('PUT', `/v1/integrations/apps/${app.clientId}/webhook`, {
      token: business.token,
      body: { url: receiver.url },
    });
    expect(configured.status, configured.text).toBe(200);
    signingSecret = String(configured.body.signing_secret);
    expect(signingSecret).toMatch(/^whsec_/);
    const read = await call('GET', `/v1/integrations/apps/${app.clientId}/webhook`, { token: business.token });
    expect(read.body).toMatchObject({ url: receiver.url, generation: 1, state: 'ok' });
    expect(read.text).not.toContain(signingSecret);
  });

  test('a user signs up and subscribes through the sandbox checkout', async () => {
    user = await signUp('personal');
    expect(await subscribe(user)).toMatchObject({ status: 'active' });
    const current = await call('GET', '/v1/subscriptions', { token: user.token });
    expect(current.body.subscription.status).toBe('active');
  });

  test('the user connects the app, given only the issuer', async () => {
    partner = await connect(user, app);
    expect(partner.tokens).toMatchObject({
      svc_user_id: user.userId,
      scope: 'inference usage:read',
      expires_in: 3600,
    });
    expect(partner.tokens.token_type.toLowerCase()).toBe('bearer');
    const connections = await call('GET', '/v1/integrations/connections', { token: user.token });
    expect(connections.body.data).toMatchObject([{ client_id: app.clientId, scope: 'inference usage:read' }]);
  });

  test('the app receives signed webhooks of the connection and then of the subscription', async () => {
    const connected = await receiver.waitForEvent('integration.connected', user.userId);
    const updated = await receiver.waitForEvent('subscription.updated', user.userId);
    for (const delivery of [connected, updated]) {
      expect(isSignedWith(delivery, signingSecret)).toBe(true);
      expect(delivery.event.integration_id).toBe(app.clientId);
      expect(delivery.headers['content-type']).toBe('application/json');
      expect(delivery.headers['user-agent']).toBe('svc-webhooks/1');
    }
    expect(updated.event.sequence).toBe(connected.event.sequence + 1);
    expect(updated.event.data).toMatchObject({ status: 'active', budget: { weekly_used_percent: 0 } });
  });

  test('a JSON chat raises the usage by the exact amount', async () => {
    const before = await usedMicros();
    const answer = await chat(partner.accessToken, 'Say something about Lake Como.');
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({ object: 'chat.completion', model: 'svc' });
    expect(answer.body.choices[0].message.content).not.toBe('');
    const requestId = answer.headers.get('x-request-id');
    const request = await call('GET', `/v1/integrations/usage/requests/${requestId}`, { token: partner.accessToken });
    expect(request.body).toMatchObject({ request_id: requestId, state: 'settled' });
    expect(request.body.cost_micros).toBeGreaterThan(0);
    expect((await usedMicros()) - before).toBe(Number(request.body.cost_micros));
  });

  test('a streamed chat raises the usage by the exact amount', async () => {
    const before = await usedMicros();
    const answer = await chat(partner.accessToken, 'Say it again, slowly. [[chunks=20]]', { stream: true });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.headers.get('content-type')).toContain('text/event-stream');
    const data = sseData(answer.text);
    expect(data.at(-1)).toBe('[DONE]');
    const chunks = data.slice(0, -1).map((payload) => JSON.parse(payload));
    expect(chunks.length).toBeGreaterThan(10);
    for (const chunk of chunks) {
      expect(chunk.model).toBe('svc');
      expect(chunk.usage ?? null).toBeNull();
      expect(chunk).not.toHaveProperty('system_fingerprint');
    }
    const requestId = answer.headers.get('x-request-id');
    const request = await call('GET', `/v1/integrations/usage/requests/${requestId}`, { token: partner.accessToken });
    expect(request.body.state).toBe('settled');
    expect((await usedMicros()) - before).toBe(Number(request.body.cost_micros));
  });

  test('a stream contains the usage chunk on request', async () => {
    const answer = await chat(partner.accessToken, 'Count. [[chunks=3]]', {
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = sseData(answer.text)
      .slice(0, -1)
      .map((payload) => JSON.parse(payload));
    const last = chunks.at(-1);
    expect(last.choices).toEqual([]);
    expect(last.usage.total_tokens).toBe(last.usage.prompt_tokens + last.usage.completion_tokens);
  });

  test('the app reads the service list', async () => {
    const capabilities = await call('GET', '/v1/integrations/inference/capabilities', { token: partner.accessToken });
    expect(capabilities.body).toMatchObject({ object: 'capabilities', services: { chat: true } });
  });

  test('the app refreshes its tokens with rotation', async () => {
    const refreshed = await client.refreshTokenGrant(partner.configuration, partner.refreshToken);
    expect(refreshed.refresh_token).not.toBe(partner.refreshToken);
    expect(refreshed['svc_user_id']).toBe(user.userId);
    expect((await chat(refreshed.access_token, 'Hello again.')).status).toBe(200);
  });

  test('a test event is queued and delivered in order after the others', async () => {
    const queued = await call('POST', `/v1/integrations/apps/${app.clientId}/webhook/test`, { token: business.token });
    expect(queued.status).toBe(202);
    expect(queued.body.status).toBe('queued');
    const delivery = await receiver.waitForEvent('integration.test', business.userId);
    expect(delivery.event.event_id).toBe(queued.body.event_id);
    const sequences = receiver.deliveries.map((each) => each.event.sequence);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  });

  test('disconnecting revokes the tokens within a second and notifies the app', async () => {
    const disconnected = await call('DELETE', `/v1/integrations/connections/${app.clientId}`, { token: user.token });
    expect(disconnected.status).toBe(204);
    await expect
      .poll(async () => (await chat(partner.accessToken, 'Still there?')).status, { timeout: 1000, interval: 25 })
      .toBe(401);
    expect((await call('GET', '/v1/integrations/usage', { token: partner.accessToken })).status).toBe(401);
    await expect(client.refreshTokenGrant(partner.configuration, partner.refreshToken)).rejects.toThrow();
    const revoked = await receiver.waitForEvent('integration.revoked', user.userId);
    expect(revoked.event.data).toMatchObject({ reason: 'user_disconnected' });
  });
});

test('a client of a metadata document is connected, billed, limited and ended like a registered app', async () => {
  const redirectUri = 'http://127.0.0.1/callback';
  const host = await startDocumentHost(redirectUri);
  const agent: RegisteredApp = { clientId: host.clientId, clientSecret: undefined, redirectUri };
  const user = await signUp('personal');
  await subscribe(user);
  const partner = await connect(user, agent);
  const path = `/v1/integrations/connections/${encodeURIComponent(agent.clientId)}`;

  const answer = await chat(partner.accessToken, 'Say something about Lake Como.');
  expect(answer.status, answer.text).toBe(200);
  const request = await call('GET', `/v1/integrations/usage/requests/${answer.headers.get('x-request-id')}`, {
    token: partner.accessToken,
  });
  const usage = await call('GET', '/v1/integrations/usage', { token: partner.accessToken });
  expect(Number(request.body.cost_micros)).toBeGreaterThan(0);
  expect(usage.body.weekly.used_micros).toBe(request.body.cost_micros);

  const budget = { limit_micros: Number(request.body.cost_micros), period: 'week' };
  const limited = await call('PATCH', path, { token: user.token, body: { budget } });
  expect(limited.body, limited.text).toMatchObject({ budget: { used_micros: budget.limit_micros } });
  const refused = await chat(partner.accessToken, 'More.');
  expect([refused.status, refused.body.detail.code]).toEqual([402, 'app_limit_exceeded']);

  expect((await call('DELETE', path, { token: user.token })).status).toBe(204);
  await expect.poll(async () => (await chat(partner.accessToken, 'Still there?')).status, { timeout: 1000 }).toBe(401);
  await expect(client.refreshTokenGrant(partner.configuration, partner.refreshToken)).rejects.toThrow();
  host.close();
});

test('a management key works in every service within its scopes, and is dead in all of them within a second', async () => {
  const business = await signUp('business');
  const app = await registerApp(business);
  const created = await call('POST', '/v1/console/management-keys', {
    token: business.token,
    body: { name: 'Provisioning', scopes: ['api_keys:write', 'wallet:read', 'apps:read', 'webhooks:read'] },
  });
  expect(created.status, created.text).toBe(201);
  const token = String(created.body.key);
  const webhook = `/v1/integrations/apps/${app.clientId}/webhook`;
  const reads = ['/v1/gateway/keys', '/v1/gateway/wallet', '/v1/integrations/apps', `${webhook}/events`];
  const statuses = () => Promise.all(reads.map(async (path) => (await call('GET', path, { token })).status));
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  const key = await call('POST', '/v1/gateway/keys', { token, body: { name: 'Customer' } });
  expect(key.status, key.text).toBe(201);

  const urls = { success_url: 'https://console.example/ok', cancel_url: 'https://console.example/no' };
  const refused = await Promise.all([
    call('GET', '/v1/gateway/usage', { token }),
    call('PUT', webhook, { token, body: { url: 'https://app.example/webhooks' } }),
    call('POST', '/v1/gateway/wallet/top-ups', { token, body: { amount_micros: 5_000_000, ...urls } }),
    call('GET', '/v1/console/management-keys', { token }),
  ]);
  for (const { status, body } of refused) expect([status, body.detail.code]).toEqual([403, 'insufficient_scope']);

  const path = `/v1/console/management-keys/${created.body.id}`;
  expect((await call('DELETE', path, { token: business.token })).status).toBe(204);
  await expect.poll(statuses, { timeout: 1000, interval: 25 }).toEqual([401, 401, 401, 401]);
  const models = await call('GET', '/v1/models', { token: String(key.body.key) });
  expect(models.status, models.text).toBe(200);
});
