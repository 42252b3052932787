import { randomUUID } from 'node:crypto';
import { events, newId } from '@svc/contracts';
import type { Messaging } from '@svc/messaging';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connectAsAuth } from './support/organization.ts';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let messaging: Messaging;
let userId: string;
let sessionId: string;
let session: string;

beforeAll(async () => {
  gateway = await startGateway();
  messaging = await connectAsAuth(gateway);
});
afterAll(async () => {
  await messaging.close();
  await gateway.stop();
});
beforeEach(async () => {
  userId = newId('usr');
  sessionId = newId('ses');
  session = await gateway.tokens.consoleSession({ userId, sessionId });
});

const createKey = (token = session) =>
  fetch(`${gateway.url}/v1/gateway/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'A key' }),
  });
const newKey = async (token = session): Promise<{ id: string; key: string }> =>
  JSON.parse(await (await createKey(token)).text());
const statusOf = async (key: string): Promise<number> =>
  (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
const isDeleted = async (id: string): Promise<boolean> =>
  (await gateway.database.knex('api_keys').where({ id }).first('deleted_at')).deleted_at !== null;

const publishRevocation = (through: string) =>
  messaging.jetstream.publish(`$KV.revocations.keys.${userId}`, JSON.stringify({ revoked_through: through }));

const publishFact = async (through: string, more: object = {}) => {
  const fact = {
    id: randomUUID(),
    subject: events.accountAccessEnded.subject,
    aggregate: `access_end:${randomUUID()}`,
    version: 1,
    occurred_at: new Date().toISOString(),
    data: { svc_user_id: userId, sessions_revoked_through: through, ...more },
  };
  await messaging.jetstream.publish(fact.subject, JSON.stringify(fact));
};
const factIsHandled = (through: string) =>
  waitFor(() =>
    gateway.database.knex('key_cutoffs').where({ svc_user_id: userId, sessions_revoked_through: through }).first(),
  );

describe('the end of all access to an account', () => {
  test('disables keys through the revocation, before the fact arrives', async () => {
    const { id, key } = await newKey();
    expect(await statusOf(key)).toBe(200);
    await publishRevocation(sessionId);
    await waitFor(async () => (await statusOf(key)) === 401);
    expect(await isDeleted(id)).toBe(false);
  });

  test('deletes keys through the fact, so that they stay disabled when the revocation expires', async () => {
    const { id } = await newKey();
    await publishFact(sessionId);
    await waitFor(() => isDeleted(id));
  });

  test('keeps keys of a later session, even if revocation and fact arrive late', async () => {
    const later = await gateway.tokens.consoleSession({ userId, sessionId: newId('ses') });
    const { id, key } = await newKey(later);
    await publishRevocation(sessionId);
    await publishFact(sessionId);
    await factIsHandled(sessionId);
    expect([await isDeleted(id), await statusOf(key)]).toEqual([false, 200]);
  });

  test('deletes only keys that were created or rotated since a moment, and revokes them one by one', async () => {
    const kept = await newKey();
    const rotated = await newKey();
    const added = await newKey();
    const old = new Date(Date.now() - 48 * 3_600_000);
    const api = gateway.database.knex('api_keys');
    await api.clone().whereIn('id', [kept.id, rotated.id]).update({ created_at: old, secret_created_at: old });
    const rotation = await fetch(`${gateway.url}/v1/gateway/keys/${rotated.id}/rotate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${session}` },
    });
    expect(rotation.status).toBe(200);
    const { key } = JSON.parse(await rotation.text());
    expect([await statusOf(kept.key), await statusOf(key), await statusOf(added.key)]).toEqual([200, 200, 200]);
    const since = new Date(Date.now() - 24 * 3_600_000).toISOString();
    await publishFact(sessionId, { keys_added_since: since });
    await waitFor(async () => (await statusOf(added.key)) === 401 && (await statusOf(key)) === 401);
    expect([await isDeleted(kept.id), await isDeleted(rotated.id), await isDeleted(added.id)]).toEqual([
      false,
      true,
      true,
    ]);
    expect(await statusOf(kept.key)).toBe(200);
    expect((await createKey()).status).toBe(401);
  });

  test('leaves keys of an organization to it when access to the account of a member ends', async () => {
    const organization = { id: newId('usr'), role: 'developer' } as const;
    const acting = await gateway.tokens.consoleSession({ userId, sessionId, organization });
    const { id, key } = await newKey(acting);
    const own = await newKey();
    await publishRevocation(sessionId);
    await publishFact(sessionId);
    await waitFor(() => isDeleted(own.id));
    expect([await isDeleted(id), await statusOf(key)]).toEqual([false, 200]);
    expect((await createKey(acting)).status).toBe(401);
  });

  test('deletes the keys of all members when access to the account of an organization ends', async () => {
    const organization = { id: userId, role: 'developer' } as const;
    const member = await gateway.tokens.consoleSession({ organization });
    const { id, key } = await newKey(member);
    const through = newId('ses');
    await publishRevocation(through);
    await waitFor(async () => (await statusOf(key)) === 401);
    await publishFact(through);
    await waitFor(() => isDeleted(id));
  });

  test('deletes what a person created or rotated for organizations since a moment, and nothing of colleagues', async () => {
    const organization = { id: newId('usr'), role: 'admin' } as const;
    const acting = await gateway.tokens.consoleSession({ userId, sessionId, organization });
    const colleague = await gateway.tokens.consoleSession({ organization });
    const added = await newKey(acting);
    const kept = await newKey(colleague);
    const rotated = await newKey(colleague);
    const old = new Date(Date.now() - 48 * 3_600_000);
    await gateway.database
      .knex('api_keys')
      .where({ id: rotated.id })
      .update({ created_at: old, secret_created_at: old });
    const rotation = await fetch(`${gateway.url}/v1/gateway/keys/${rotated.id}/rotate`, {
      method: 'POST',
      headers: { authorization: `Bearer ${acting}` },
    });
    expect(rotation.status).toBe(200);
    await publishFact(sessionId, { keys_added_since: new Date(Date.now() - 24 * 3_600_000).toISOString() });
    await waitFor(async () => (await isDeleted(added.id)) && (await isDeleted(rotated.id)));
    await waitFor(async () => (await statusOf(added.key)) === 401);
    expect([await isDeleted(kept.id), await statusOf(kept.key)]).toEqual([false, 200]);
  });

  test('does not keep members of an organization from creating keys when access to its founder ends', async () => {
    const organization = { id: userId, role: 'developer' } as const;
    const member = await gateway.tokens.consoleSession({ organization });
    const through = newId('ses');
    await publishFact(through, { keys_added_since: new Date().toISOString() });
    await factIsHandled(through);
    expect((await createKey(member)).status).toBe(201);
  });

  test('returns 401 if an ended session creates a key before its revocation has arrived', async () => {
    await publishFact(sessionId);
    await factIsHandled(sessionId);
    expect((await createKey()).status).toBe(401);
  });

  test('deletes every key of sessions that create keys while the fact is handled', async () => {
    const creating = Promise.all(Array.from({ length: 20 }, () => createKey()));
    await publishFact(sessionId);
    await creating;
    await factIsHandled(sessionId);
    const alive = await gateway.database.knex('api_keys').where({ svc_user_id: userId }).whereNull('deleted_at');
    expect(alive).toEqual([]);
  });

  test('deletes keys created before sessions were recorded', async () => {
    const { id, key } = await newKey();
    await gateway.database.knex('api_keys').where({ id }).update({ session_id: null });
    await publishRevocation(sessionId);
    await waitFor(async () => (await statusOf(key)) === 401);
    await publishFact(sessionId);
    await waitFor(() => isDeleted(id));
  });

  test('is followed by the erasure of every key, with its name, when the account is erased', async () => {
    const { id, key } = await newKey();
    const fact = {
      id: randomUUID(),
      subject: events.accountErased.subject,
      aggregate: `account_deletion:${userId}`,
      version: 2,
      occurred_at: new Date().toISOString(),
      data: { svc_user_id: userId },
    };
    await messaging.jetstream.publish(fact.subject, JSON.stringify(fact));
    await waitFor(async () => (await gateway.database.knex('api_keys').where({ id })).length === 0);
    await publishRevocation(sessionId);
    await waitFor(async () => (await statusOf(key)) === 401);
  });
});
