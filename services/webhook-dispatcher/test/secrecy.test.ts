import { randomBytes } from 'node:crypto';
import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { reencryptSecrets } from '../src/configurations/reencrypt-secrets.ts';
import { createSecretBox, parseEncryptionKeys } from '../src/signatures/index.ts';
import {
  call,
  newOwner,
  type Owner,
  publishFact,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';

const FIRST = `first:${randomBytes(32).toString('base64')}`;
const SECOND = `second:${randomBytes(32).toString('base64')}`;
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
    FIRST.slice(6),
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

test('re-encryption changes no secret and makes the old key dispensable', async () => {
  const owner: Owner = await newOwner(world);
  const before = await startDispatcher(world, { env: { WEBHOOK_ENCRYPTION_KEY: FIRST } });
  await call(before, owner, ['PUT', '', { url: world.receiver.url }]);
  await before.stop();
  const boxOf = (...keys: string[]) => createSecretBox(parseEncryptionKeys(keys));
  const { knex } = world.database;
  const open = async (box: ReturnType<typeof boxOf>) => {
    const row = await knex('configurations').where({ client_id: owner.clientId }).first();
    return box.open(
      { keyId: row.secret_key_id, sealed: row.secret_sealed },
      { clientId: owner.clientId, generation: 1 },
    );
  };
  const secret = await open(boxOf(FIRST));
  expect(await reencryptSecrets(knex, boxOf(SECOND, FIRST))).toBe(2);
  expect(await reencryptSecrets(knex, boxOf(SECOND, FIRST))).toBe(0);
  expect(await open(boxOf(SECOND))).toBe(secret);
});

test('an event whose secret cannot be opened waits without using up an attempt', async () => {
  const owner = await newOwner(world);
  const other = `third:${randomBytes(32).toString('base64')}`;
  const first = await startDispatcher(world, { env: { WEBHOOK_ENCRYPTION_KEY: other } });
  await call(first, owner, ['PUT', '', { url: world.receiver.url }]);
  await first.stop();
  const second = await startDispatcher(world, { env: { WEBHOOK_ENCRYPTION_KEY: SECOND } });
  const { body } = await call(second, owner, ['POST', '/test']);
  await waitFor(() => world.logs.some((line) => line.includes('a signing secret cannot be opened')));
  const { data } = (await call(second, owner, ['GET', '/events'])).body;
  expect(data).toMatchObject([{ event_id: body.event_id, attempts: 0, last_attempt: null }]);
  await second.stop();
});
