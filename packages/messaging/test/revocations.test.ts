import { newId } from '@svc/contracts';
import { testClock, waitFor } from '@svc/testing';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { migrateBroker } from '../src/broker/index.ts';
import {
  appendToOutbox,
  type Messaging,
  type OutboxRevocation,
  openRevocations,
  type RevocationView,
  withOutbox,
} from '../src/index.ts';
import { createStage, type Stage } from './support/stage.ts';

let stage: Stage;
beforeAll(async () => {
  stage = await createStage();
});
afterEach(() => stage.reset());
afterAll(() => stage.end());

const noRelay = { hint: () => undefined };
const revoke = (revocation: OutboxRevocation['revocation'], relay: { hint: () => void } = noRelay) =>
  withOutbox({ database: stage.knex, relay }, (trx) => appendToOutbox(trx, { revocation }));

const view = async (messaging: Messaging): Promise<RevocationView> =>
  stage.keep(await openRevocations(messaging, { sources: [], checkIntervalMs: 200 }));

test('a revocation reaches another process after its commit, and not before', async () => {
  const relay = stage.relay(await stage.connect('auth'));
  await waitFor(() => relay.isLeading());
  const watcher = await view(await stage.connect('gateway'));
  const early = newId('grt');
  const late = newId('grt');
  const inserted = Promise.withResolvers<void>();
  const commit = Promise.withResolvers<void>();
  const revoking = withOutbox({ database: stage.knex, relay }, async (trx) => {
    await appendToOutbox(trx, { revocation: { key: `grant.${late}` } });
    inserted.resolve();
    await commit.promise;
  });
  await inserted.promise;
  await revoke({ key: `grant.${early}` }, relay);
  await waitFor(() => watcher.isRevoked({ grantId: early }));
  expect(watcher.isRevoked({ grantId: late })).toBe(false);
  commit.resolve();
  await revoking;
  await waitFor(() => watcher.isRevoked({ grantId: late }));
});

test('a view that opens later has all revocations', async () => {
  stage.relay(await stage.connect());
  const sessions = Array.from({ length: 30 }, () => newId('ses'));
  for (const sessionId of sessions) await revoke({ key: `session.${sessionId}` });
  await waitFor(async () => (await stage.knex('outbox').whereNull('published_at')).length === 0);
  const late = await view(await stage.connect());
  for (const sessionId of sessions) expect(late.isRevoked({ sessionId })).toBe(true);
});

test('a view ignores the marks of deleted keys, and completes if one is the last entry', async () => {
  const messaging = await stage.connect();
  const bucket = await messaging.jetstream.views.kv('revocations', { bindOnly: true });
  await bucket.put('grant.grt_1', '{}');
  await bucket.put('grant.grt_2', '{}');
  await bucket.delete('grant.grt_2');
  const watcher = await view(messaging);
  expect(watcher.isRevoked({ grantId: 'grt_1' })).toBe(true);
  expect(watcher.isRevoked({ grantId: 'grt_2' })).toBe(false);
  await waitFor(() => !watcher.isStale());
});

test('an entry for an app or account revokes its grants or sessions up to the mark, and no later ones', async () => {
  stage.relay(await stage.connect());
  const watcher = await view(await stage.connect());
  const clientId = newId('app');
  const userId = newId('usr');
  const early = newId('grt');
  const mark = newId('grt');
  const late = newId('grt');
  const oldSession = newId('ses');
  const newSession = newId('ses');
  await revoke({ key: `app.${clientId}`, value: { revoked_through: mark } });
  await revoke({ key: `account.${userId}`, value: { revoked_through: oldSession } });
  await waitFor(
    () => watcher.isRevoked({ clientId, grantId: mark }) && watcher.isRevoked({ userId, sessionId: oldSession }),
  );
  expect(watcher.isRevoked({ clientId, grantId: early })).toBe(true);
  expect(watcher.isRevoked({ clientId, grantId: late })).toBe(false);
  expect(watcher.isRevoked({ clientId: newId('app'), grantId: early })).toBe(false);
  expect(watcher.isRevoked({ userId, sessionId: newSession })).toBe(false);
  expect(watcher.isRevoked({ clientId, userId })).toBe(false);
});

test('a view keeps its revocations while NATS is away, and reports that it is stale', async () => {
  const relay = stage.relay(await stage.connect());
  const watcher = await view(await stage.connect());
  await revoke({ key: 'key.key_1' }, relay);
  await waitFor(() => watcher.isRevoked({ keyId: 'key_1' }));
  expect(watcher.isStale()).toBe(false);
  await stage.nats.pause();
  await waitFor(() => watcher.isStale());
  expect(watcher.isRevoked({ keyId: 'key_1' })).toBe(true);
  await revoke({ key: 'key.key_2' }, relay);
  await stage.nats.start();
  await waitFor(() => watcher.isRevoked({ keyId: 'key_2' }));
  await waitFor(() => !watcher.isStale());
});

test('a view keeps its revocations and gets new ones after the bucket was recreated', async () => {
  const relay = stage.relay(await stage.connect());
  const watcher = await view(await stage.connect());
  await revoke({ key: 'grant.grt_1' }, relay);
  await waitFor(() => watcher.isRevoked({ grantId: 'grt_1' }));
  await stage.nats.wipe();
  expect(watcher.isRevoked({ grantId: 'grt_1' })).toBe(true);
  await revoke({ key: 'grant.grt_2' }, relay);
  await waitFor(() => watcher.isRevoked({ grantId: 'grt_2' }));
  // A view that opens now gets the first revocation too, because the relay has published it again.
  const late = await view(await stage.connect());
  await waitFor(() => late.isRevoked({ grantId: 'grt_1' }));
});

test('a view follows a bucket that was deleted and recreated without a reconnection', async () => {
  const messaging = await stage.connect();
  const watcher = await view(messaging);
  await messaging.manager.streams.delete('KV_revocations');
  await migrateBroker({ url: stage.nats.url });
  stage.relay(await stage.connect());
  await waitFor(async () => {
    await revoke({ key: 'grant.grt_after' });
    return watcher.isRevoked({ grantId: 'grt_after' });
  });
});

test('a view gets revocations that NATS records after it has lost the view’s consumer', async () => {
  const relay = stage.relay(await stage.connect());
  const watcher = await view(await stage.connect());
  await revoke({ key: 'grant.grt_1' }, relay);
  await waitFor(() => watcher.isRevoked({ grantId: 'grt_1' }));
  const { manager } = await stage.connect();
  const consumers = await manager.consumers.list('KV_revocations').next();
  expect(consumers.length).toBe(1);
  for (const { name } of consumers) await manager.consumers.delete('KV_revocations', name);
  await revoke({ key: 'grant.grt_2' }, relay);
  await waitFor(() => watcher.isRevoked({ grantId: 'grt_2' }));
  await waitFor(() => !watcher.isStale());
  expect(watcher.isRevoked({ grantId: 'grt_1' })).toBe(true);
});

test('a view loads while revocations are recorded, and misses none', async () => {
  const messaging = await stage.connect();
  const bucket = await messaging.jetstream.views.kv('revocations', { bindOnly: true });
  const grants = Array.from({ length: 600 }, () => newId('grt'));
  const record = (some: readonly string[]) => Promise.all(some.map((grantId) => bucket.put(`grant.${grantId}`, '{}')));
  await record(grants.slice(0, 300));
  const [watcher] = await Promise.all([view(await stage.connect()), record(grants.slice(300))]);
  await waitFor(() => grants.every((grantId) => watcher.isRevoked({ grantId })));
});

test('entries expire with the longest life of a token', async () => {
  const messaging = await stage.connect();
  const clock = testClock(new Date());
  const watcher = stage.keep(await openRevocations(messaging, { sources: [], clock }));
  watcher.remember('grant.grt_1');
  expect(watcher.isRevoked({ grantId: 'grt_1' })).toBe(true);
  clock.advanceMs(13 * 3600 * 1000 + 1);
  expect(watcher.isRevoked({ grantId: 'grt_1' })).toBe(false);
});

test('a remembered revocation holds at once', async () => {
  const watcher = await view(await stage.connect());
  watcher.remember('account.usr_1', { revoked_through: 'ses_5' });
  expect(watcher.isRevoked({ userId: 'usr_1', sessionId: 'ses_4' })).toBe(true);
  expect(watcher.isRevoked({ userId: 'usr_1', sessionId: 'ses_6' })).toBe(false);
});
