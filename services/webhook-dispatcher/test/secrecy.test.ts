import { randomBytes } from 'node:crypto';
import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, newOwner, publishFact, startDispatcher, startWorld, type World } from './support/dispatcher.ts';

const FIRST = `first:${randomBytes(32).toString('base64')}`;
let world: World;

beforeAll(async () => {
  world = await startWorld();
});
afterAll(async () => {
  await world?.stop();
});

/** Returns all rows of all tables as text, with bytes in hex and in latin1. */
const everythingStored = async (): Promise<string> => {
  const tables = await world.database.knex('pg_tables').where({ schemaname: 'public' }).select('tablename');
  const rows = await Promise.all(tables.map(({ tablename }) => world.database.knex(tablename).select('*')));
  return JSON.stringify(rows, (_key, value) =>
    value?.type === 'Buffer'
      ? `${Buffer.from(value.data).toString('latin1')} ${Buffer.from(value.data).toString('hex')}`
      : value,
  );
};

test('stores and logs no secret, token or answer of a receiver, and logs no query', async () => {
  const dispatcher = await startDispatcher(world, { env: { WEBHOOK_ENCRYPTION_KEY: FIRST } });
  const owner = await newOwner(world);
  world.receiver.next.push((response) => response.writeHead(500, { 'x-note': 'canary-header' }).end('canary-answer'));
  const url = `${world.receiver.url}?key=canary-query`;
  const { body } = await call(dispatcher, owner, ['PUT', '', { url }]);
  await call(dispatcher, owner, ['POST', '/test']);
  await publishFact(world, {
    subject: 'auth.connection.created.v1',
    aggregate: `connection:${owner.userId}:${owner.clientId}`,
    version: 1,
    data: {
      svc_user_id: owner.userId,
      client_id: owner.clientId,
      grant_id: newId('grt'),
      scope: 'inference',
      connected_at: '2026-11-20T10:00:00.000Z',
    },
  });
  await call(dispatcher, owner, ['PUT', '', { url: 'https://u:canary-password@hooks.example.com/' }]);
  await waitFor(() => world.receiver.received.length === 3);
  await dispatcher.stop();
  const { received } = world.receiver;
  expect(received.map(({ path }) => path)).toEqual(Array.from({ length: 3 }, () => '/hook?key=canary-query'));
  const secret: string = body.signing_secret;
  const signatures = received.map(({ headers }) => String(headers['x-svc-signature']).split('v1=')[1] ?? '');
  const canaries = [
    secret,
    secret.slice('whsec_'.length),
    Buffer.from(secret).toString('hex'),
    owner.token,
    FIRST.slice('first:'.length),
    'canary-answer',
    'canary-header',
    'canary-password',
    'service-token-of-the-tests',
    ...signatures,
  ];
  const stored = await everythingStored();
  const logged = world.logs.join('');
  for (const canary of canaries) {
    expect(stored.includes(canary), `stored: ${canary}`).toBe(false);
    expect(logged.includes(canary), `logged: ${canary}`).toBe(false);
  }
  expect(logged.includes('canary-query')).toBe(false);
});
