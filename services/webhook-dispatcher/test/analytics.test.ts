import { connectionAggregate, newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  call,
  type Dispatcher,
  newOwner,
  type Owner,
  publishFact,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';

let world: World;
let dispatcher: Dispatcher;
let owner: Owner;

beforeAll(async () => {
  world = await startWorld();
  dispatcher = await startDispatcher(world, { env: { WEBHOOK_BACKOFF_BASE_MS: '1' } });
});
afterAll(async () => {
  await dispatcher?.stop();
  await world?.stop();
});
beforeEach(async () => {
  owner = await newOwner(world);
});

const get = async (query: string, by: { token?: string } = owner) => {
  const authorization = by.token === undefined ? {} : { authorization: `Bearer ${by.token}` };
  const url = `${dispatcher.url}/v1/integrations/apps/${owner.clientId}/analytics${query}`;
  const response = await fetch(url, { headers: authorization });
  // biome-ignore lint/suspicious/noExplicitAny: answers of several shapes.
  return { status: response.status, body: (await response.json()) as any };
};

const publishActivity = (counts: { day: string; requests: number; errors: number }[], id?: string) =>
  publishFact(world, {
    subject: 'inference.app.activity.v1',
    aggregate: `activity:${newId('evt')}`,
    version: 1,
    data: { counts: counts.map((count) => ({ client_id: owner.clientId, ...count })) },
    ...(id === undefined ? {} : { id }),
  });

test('sums up requests by day, each fact once, and lists days without any', async () => {
  const id = await publishActivity([
    { day: '2026-10-01', requests: 3, errors: 1 },
    { day: '2026-10-03', requests: 2, errors: 0 },
  ]);
  await publishActivity([{ day: '2026-10-01', requests: 4, errors: 2 }]);
  await publishActivity([{ day: '2026-10-01', requests: 3, errors: 1 }], id);
  await waitFor(async () => (await get('?from=2026-10-01&to=2026-10-01')).body.data[0].requests === 7);
  const none = { connections: 0, deliveries: 0, deliveries_failed: 0 };
  expect((await get('?from=2026-10-01&to=2026-10-03')).body).toEqual({
    data: [
      { day: '2026-10-01', ...none, requests: 7, errors: 3 },
      { day: '2026-10-02', ...none, requests: 0, errors: 0 },
      { day: '2026-10-03', ...none, requests: 2, errors: 0 },
    ],
  });
});

test('counts new connections on their day, and attempts to deliver on theirs', async () => {
  await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
  world.receiver.next.push(500);
  const userId = newId('usr');
  await publishFact(world, {
    subject: 'auth.connection.created.v1',
    aggregate: connectionAggregate(userId, owner.clientId),
    version: 1,
    data: {
      svc_user_id: userId,
      client_id: owner.clientId,
      grant_id: newId('grt'),
      scope: 'inference',
      connected_at: '2026-10-02T23:59:59.999Z',
    },
  });
  const today = new Date().toISOString().slice(0, 10);
  await waitFor(async () => (await get(`?from=${today}&to=${today}`)).body.data[0].deliveries === 2);
  expect((await get(`?from=${today}&to=${today}`)).body.data[0]).toMatchObject({ deliveries: 2, deliveries_failed: 1 });
  const { data } = (await get('?from=2026-10-02&to=2026-10-03')).body;
  expect(data.map(({ connections }: { connections: number }) => connections)).toEqual([1, 0]);
});

test('lists the last 30 days if none are named', async () => {
  const { data } = (await get('')).body;
  expect([data.length, data.at(-1).day]).toEqual([30, new Date().toISOString().slice(0, 10)]);
});

test.each(['?from=2026-10-02&to=2026-10-01', '?from=2025-01-01&to=2026-10-01', '?from=x', '?to=2026-02-30'])(
  'returns 422 for the range %s',
  async (query) => {
    expect((await get(query)).status).toBe(422);
  },
);

test('returns 401 without a session, and 404 to another business', async () => {
  expect((await get('', {})).status).toBe(401);
  const stranger = await newOwner(world);
  expect((await get('', stranger)).status).toBe(404);
});
