import { internalRoutes } from '@svc/contracts';
import { testDatabase } from '@svc/database/testing';
import {
  connectMessaging,
  inboxMigration,
  type Messaging,
  openRevocations,
  ownSource,
  startConsumer,
  startRelay,
} from '@svc/messaging';
import { ensureDurable } from '@svc/messaging/broker';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { createInternalClient, createLogger } from '@svc/service-kit';
import { internalCredential, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { call } from './support/http.ts';
import { claimsOf, connect, newApp, newPerson, type Person } from './support/partner.ts';

let service: AuthService;
let nats: TestNats;
let messaging: Messaging;
let operator: Messaging;
let owner: Person;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  nats = await testNats();
  const logger = createLogger({ service: 'auth', level: 'silent' });
  messaging = await connectMessaging({ url: nats.urlOf('auth'), name: 'auth', logger });
  operator = await connectMessaging({ url: nats.url, name: 'operator', logger });
  let hint = (): void => undefined;
  service = await startAuthService({}, () => hint());
  const relay = startRelay({ databaseUrl: service.databaseUrl, messaging, service: 'auth' });
  hint = relay.hint;
  stops.push(() => relay.stop());
  owner = await newPerson(service, 'business');
});
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  await service.stop();
  await messaging.close();
  await operator.close();
  await nats.stop();
});

test('revokes ended sessions and grants for the other services', async () => {
  const revocations = await openRevocations(messaging, { sources: [ownSource('auth', service.database)] });
  stops.push(() => revocations.stop());
  const person = await newPerson(service);
  const app = await newApp(service, owner);
  const { grantId } = await connect(service, { app, person });
  const isRevoked = (query: object) => waitFor(() => revocations.isRevoked(query));

  await call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: person.token });
  await isRevoked({ grantId });

  const again = await connect(service, { app, person });
  expect(revocations.isRevoked({ grantId: again.grantId, clientId: app.clientId })).toBe(false);
  await call(`${service.url}/v1/integrations/apps/${app.clientId}`, {
    method: 'PATCH',
    token: owner.token,
    json: { active: false },
  });
  await isRevoked({ grantId: again.grantId, clientId: app.clientId });

  const sessionId = claimsOf(person.token)['sid'];
  await call(`${service.url}/v1/console/session`, { method: 'DELETE', token: person.token });
  await isRevoked({ sessionId });
});

test('answers other services with the same revocations, before and after they are published', async () => {
  const person = await newPerson(service);
  const app = await newApp(service, owner);
  const { grantId } = await connect(service, { app, person });
  const { grantId: kept } = await connect(service, { app, person: await newPerson(service) });
  const client = createInternalClient({
    baseUrl: service.internalUrl,
    token: internalCredential('billing'),
    timeoutMs: 5_000,
  });
  stops.push(client.close);
  const sessionId = claimsOf(person.token)['sid'];
  const keys = [`grant.${grantId}`, `grant.${kept}`, `session.${sessionId}`, `app.${app.clientId}`];
  const lookUp = async () => (await client.call(internalRoutes.lookUpRevocations, { body: { keys } })).body;
  expect((await lookUp()).data).toEqual([]);
  await call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: person.token });
  await call(`${service.url}/v1/console/session`, { method: 'DELETE', token: person.token });
  const single = [`grant.${grantId}`, `session.${sessionId}`].map((key) => ({ key, revoked_through: null }));
  expect((await lookUp()).data).toEqual(expect.arrayContaining(single));
  const path = `${service.url}/v1/integrations/apps/${app.clientId}`;
  await call(path, { method: 'PATCH', token: owner.token, json: { active: false } });
  await waitFor(async () => (await lookUp()).is_published);
  const { data } = await lookUp();
  expect(data.map(({ key }) => key).toSorted()).toEqual(keys.filter((key) => key !== `grant.${kept}`).toSorted());
  expect(String(data.find(({ key }) => key.startsWith('app.'))?.revoked_through) >= kept).toBe(true);
});

test('reads look-ups of revocations from an index', async () => {
  const { rows } = await service.database.raw<{ rows: Record<string, string>[] }>(
    `EXPLAIN SELECT subject FROM outbox WHERE stream = 'KV_revocations' AND subject COLLATE "C" = ANY (ARRAY['a', 'b'])`,
  );
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('outbox_revocations');
});

test('delivers facts in order, each once, as the contract says', async () => {
  const received: string[] = [];
  const inbox = await testDatabase();
  stops.push(() => inbox.drop());
  await inboxMigration(inbox.knex);
  const name = 'test_apps';
  const facts = ['registered', 'updated', 'suspended', 'activated'] as const;
  const subjects = facts.map((fact) => `auth.app.${fact}.v1` as const);
  await ensureDurable(operator.manager, { name, stream: 'AUTH', subjects });
  const consumer = startConsumer({
    messaging: operator,
    database: inbox.knex,
    name,
    subjects,
    handle: async (_trx, event) => {
      received.push(`${event.aggregate} ${event.version} ${event.subject}`);
    },
  });
  stops.push(() => consumer.stop());
  const app = await newApp(service, owner);
  const patch = (json: object) =>
    call(`${service.url}/v1/integrations/apps/${app.clientId}`, { method: 'PATCH', token: owner.token, json });
  await patch({ active: true, name: 'Renamed' });
  await patch({ active: false });
  await patch({ active: true });
  const about = () =>
    received
      .filter((line) => line.startsWith(`app:${app.clientId} `))
      .map((line) => line.split(' ').slice(1).join(' '));
  await waitFor(() => about().length === 4);
  expect(about()).toEqual([
    '1 auth.app.registered.v1',
    '2 auth.app.updated.v1',
    '3 auth.app.suspended.v1',
    '4 auth.app.activated.v1',
  ]);
});
