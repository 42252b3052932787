import { createHmac } from 'node:crypto';
import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  call,
  type Dispatcher,
  newOwner,
  type Owner,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';
import { createFacts, snapshot } from './support/facts.ts';
import type { Received } from './support/receiver.ts';

let world: World;
let dispatcher: Dispatcher;
let owner: Owner;

beforeAll(async () => {
  world = await startWorld();
  dispatcher = await startDispatcher(world);
});
afterAll(async () => {
  await dispatcher?.stop();
  await world?.stop();
});
beforeEach(async () => {
  owner = await newOwner(world);
  world.receiver.received.length = 0;
  world.receiver.next.length = 0;
});

const configure = async (): Promise<string> => {
  const answer = await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
  expect(answer.status).toBe(200);
  return answer.body.signing_secret;
};

/** Verifies a signature without code of the service. */
const isSigned = (received: Received, secret: string): boolean => {
  const [, time, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(received.headers['x-svc-signature'])) ?? [];
  const input = Buffer.concat([Buffer.from(`${time}.`, 'utf8'), received.raw]);
  const age = Math.abs(Date.now() / 1000 - Number(time));
  return signature === createHmac('sha256', Buffer.from(secret, 'utf8')).update(input).digest('hex') && age < 300;
};

describe('from a configuration to a delivery', () => {
  test('a new configuration returns its secret once, and later reads leave it out', async () => {
    const configured = await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
    expect(configured.body).toMatchObject({
      client_id: owner.clientId,
      url: world.receiver.url,
      generation: 1,
      state: 'ok',
      blocked_by_event_id: null,
    });
    expect(configured.body.signing_secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const read = await call(dispatcher, owner, ['GET', '']);
    const { signing_secret: _secret, ...rest } = configured.body;
    expect(read.body).toEqual(rest);
    const again = await call(dispatcher, owner, ['PUT', '', { url: world.receiver.url }]);
    expect(again.body.generation).toBe(2);
    expect(again.body.signing_secret).not.toBe(configured.body.signing_secret);
  });

  test('a test event is queued, delivered with a valid signature, and listed', async () => {
    const secret = await configure();
    const queued = await call(dispatcher, owner, ['POST', '/test']);
    expect(queued).toMatchObject({ status: 202, body: { status: 'queued' } });
    const [received] = await waitFor(() => world.receiver.received.length === 1 && world.receiver.received);
    expect(received?.event).toMatchObject({
      api_version: '2026-10-01',
      event_id: queued.body.event_id,
      event: 'integration.test',
      integration_id: owner.clientId,
      sequence: 1,
      user: { svc_user_id: owner.userId },
    });
    const fields = ['api_version', 'event_id', 'event', 'integration_id', 'sequence', 'created', 'user', 'data'];
    expect(Object.keys(received?.event ?? {})).toEqual(fields);
    expect(received).toMatchObject({ method: 'POST', path: '/hook', serverName: 'localhost' });
    expect(received?.headers).toMatchObject({
      host: `localhost:${world.receiver.port}`,
      'content-type': 'application/json',
      'user-agent': 'svc-webhooks/1',
    });
    expect(received !== undefined && isSigned(received, secret)).toBe(true);
    const listed = await waitFor(async () => {
      const { body } = await call(dispatcher, owner, ['GET', '/events']);
      return body.data[0].status === 'delivered' && body;
    });
    expect(listed).toMatchObject({
      has_more: false,
      data: [{ event_id: queued.body.event_id, sequence: 1, generation: 1, attempts: 1, next_attempt_at: null }],
    });
    expect(listed.data[0].last_attempt).toMatchObject({ status_code: 204, error: null });
  });

  test('a connection is sent, followed by the subscription of its user', async () => {
    const secret = await configure();
    const userId = newId('usr');
    world.standIns.snapshots.set(userId, snapshot(4));
    await createFacts(world, dispatcher).connect({ userId, clientId: owner.clientId });
    await waitFor(() => world.receiver.received.length === 2);
    const [connected, updated] = world.receiver.received;
    expect(connected?.event).toMatchObject({
      event: 'integration.connected',
      sequence: 1,
      user: { svc_user_id: userId },
      data: { scope: 'inference usage:read', connected_at: '2026-11-20T10:00:00.000Z' },
    });
    expect(updated?.event).toMatchObject({ event: 'subscription.updated', sequence: 2, data: snapshot(4) });
    expect(world.receiver.received.every((received) => isSigned(received, secret))).toBe(true);
  });

  test('failed attempts are retried in order, with the same body and a new signature', async () => {
    const secret = await configure();
    world.receiver.next.push(500, 302, 404);
    await call(dispatcher, owner, ['POST', '/test']);
    await call(dispatcher, owner, ['POST', '/test']);
    await waitFor(() => world.receiver.received.length === 5);
    expect(world.receiver.received.map(({ event }) => event.sequence)).toEqual([1, 1, 1, 1, 2]);
    expect(new Set(world.receiver.received.slice(0, 4).map(({ raw }) => raw.toString())).size).toBe(1);
    expect(world.receiver.received.every((received) => isSigned(received, secret))).toBe(true);
  });
});
