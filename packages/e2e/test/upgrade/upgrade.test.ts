import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { readStackFile, waitFor } from '@svc/testing';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { call } from '../support/api.ts';
import { chat, connect } from '../support/partner.ts';
import { type Person, type RegisteredApp, registerApp, signUp, subscribe } from '../support/people.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { choose, type Release, SERVICES, type Service } from './two-releases.ts';

const START_MS = 30_000;
const MIGRATION_TIMEOUT_MS = 60_000;
const CHATS_AT_ONCE = 8;
const releases = inject('releases');
const run = promisify(execFile);

/** Moves services to a release; the supervisor stops each in order and restarts it. */
const upgrade = async (release: Release, services: readonly Service[]): Promise<void> => {
  if (releases === undefined) return;
  await Promise.all(
    services.map(async (service) => {
      const process_ = async () => (await readStackFile(inject('dataDir'))).processes[service];
      const before = (await process_())?.pid ?? 0;
      await choose(releases, service, release);
      process.kill(before, 'SIGTERM');
      await waitFor(
        async () => {
          const now = await process_();
          if (now === undefined || now.pid === before) return undefined;
          const ready = await fetch(`${now.internal_url}/readyz`).catch(() => undefined);
          return ready?.ok || undefined;
        },
        { timeoutMs: START_MS },
      );
    }),
  );
};

/** Runs the migrations of the current release, as its Jobs do before any of its services starts. */
const migrate = async (): Promise<void> => {
  const { database_urls: urls } = await readStackFile(inject('dataDir'));
  await Promise.all(
    SERVICES.map((service) =>
      run(process.execPath, [join(releases?.present ?? '', 'services', service, 'src', 'migrate.ts')], {
        env: { PATH: process.env['PATH'], DATABASE_URL: urls[service] },
        timeout: MIGRATION_TIMEOUT_MS,
      }),
    ),
  );
};

describe.skipIf(releases === undefined)('an upgrade from the previous release, one service at a time', () => {
  let receiver: Receiver;
  let business: Person;
  let app: RegisteredApp;
  let earlier: { user: Person; accessToken: string };
  let key: string;

  beforeAll(async () => {
    receiver = await startReceiver();
    business = await signUp('business');
    app = await registerApp(business);
    const path = `/v1/integrations/apps/${app.clientId}/webhook`;
    expect((await call('PUT', path, { token: business.token, body: { url: receiver.url } })).status).toBe(200);
    return () => receiver.close();
  });

  /** Signs up, subscribes, connects, infers with both kinds of credential, and waits for settlement and webhooks. */
  const work = async (): Promise<{ user: Person; accessToken: string }> => {
    const user = await signUp('personal');
    await subscribe(user);
    const { accessToken } = await connect(user, app);
    await infer(accessToken);
    await receiver.waitForEvent('integration.connected', user.userId);
    await receiver.waitForEvent('subscription.updated', user.userId);
    return { user, accessToken };
  };
  const infer = async (accessToken: string): Promise<void> => {
    const answer = await chat(accessToken, 'Hello.');
    expect(answer.status, answer.text).toBe(200);
    const path = `/v1/integrations/usage/requests/${answer.headers.get('x-request-id')}`;
    const stateOf = async () => (await call('GET', path, { token: accessToken })).body.state;
    await expect.poll(stateOf, { timeout: 10_000 }).toBe('settled');
    const body = { model: 'svc-chat', messages: [{ role: 'user', content: 'Hello.' }] };
    const together = Array.from({ length: CHATS_AT_ONCE }, () =>
      call('POST', '/v1/chat/completions', { token: key, body }),
    );
    expect((await Promise.all(together)).map(({ status }) => status)).toEqual(together.map(() => 200));
  };
  /** Existing connections still work, and new ones can be made. */
  const workAsBefore = async (): Promise<void> => {
    await infer(earlier.accessToken);
    await work();
  };

  test('previous code, previous schema', async () => {
    const { token } = await signUp('personal');
    const urls = { success_url: 'https://console.example/ok', cancel_url: 'https://console.example/no' };
    const body = { amount_micros: 50_000_000, ...urls };
    const { body: topUp } = await call('POST', '/v1/gateway/wallet/top-ups', { token, body });
    await call('POST', `/sandbox/payments/sessions/${topUp.session_id}/complete`);
    await call('POST', '/v1/subscriptions/checkout/confirm', { token, body: { session_id: topUp.session_id } });
    key = String((await call('POST', '/v1/gateway/keys', { token, body: { name: 'upgrade' } })).body.key);
    earlier = await work();
  });

  test('previous code, new schema, while it runs', async () => {
    await migrate();
    await workAsBefore();
    await upgrade('previous', ['auth', 'billing']);
    await workAsBefore();
  });

  test('a new gateway and dispatcher beside a previous auth and billing', async () => {
    await upgrade('present', ['inference-gateway', 'webhook-dispatcher']);
    await workAsBefore();
  });

  test('a new auth and billing beside a previous gateway and dispatcher', async () => {
    await Promise.all([
      upgrade('previous', ['inference-gateway', 'webhook-dispatcher']),
      upgrade('present', ['auth', 'billing']),
    ]);
    await workAsBefore();
  });

  test('new code throughout', async () => {
    await upgrade('present', ['inference-gateway', 'webhook-dispatcher']);
    await workAsBefore();
  });
});
