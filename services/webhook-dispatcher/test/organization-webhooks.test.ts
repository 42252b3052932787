import { keyVersionText, newId, type RecordedAct, type Role } from '@svc/contracts';
import { callAsEachRole, internalCredentialFor, roleMatrixOf, waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  call,
  callAccount,
  type Dispatcher,
  newOwner,
  type Owner,
  startDispatcher,
  startWorld,
  type World,
} from './support/dispatcher.ts';

let world: World;
let dispatcher: Dispatcher;
/** The business account of the organization, with an app. */
let organization: Owner;

beforeAll(async () => {
  world = await startWorld();
  // The first retry comes after an hour, so that an event waits until it is sent by request.
  dispatcher = await startDispatcher(world, { env: { WEBHOOK_BACKOFF_BASE_MS: '3600000' } });
});
afterAll(async () => {
  await dispatcher?.stop();
  await world?.stop();
});
beforeEach(async () => {
  organization = await newOwner(world);
  world.receiver.next.length = 0;
  world.receiver.otherwise = 204;
});

type Send = (request: [string, string, unknown?]) => Promise<Answer>;

/** Makes a person who acts for the organization, with calls to the webhooks of its app and of itself. */
const newMember = async (role: Role) => {
  const userId = newId('usr');
  const membershipId = newId('mem');
  const token = await world.tokens.consoleSession({
    userId,
    organization: { id: organization.userId, role, membershipId },
  });
  const ofApp: Send = (request) => call(dispatcher, { clientId: organization.clientId, token }, request);
  const ofAccount: Send = (request) => callAccount(dispatcher, { token }, request);
  return { userId, membershipId, ofApp, ofAccount };
};

const actsOf = async (organizationId: string): Promise<RecordedAct[]> => {
  const path = `/internal/webhook-dispatcher/acts/${organizationId}?limit=100`;
  const headers = { authorization: `Bearer ${internalCredentialFor('GET', path)}` };
  const answer = await fetch(`${dispatcher.internalUrl}${path}`, { headers });
  expect(answer.status).toBe(200);
  return JSON.parse(await answer.text()).data;
};

/** Performs every act on a webhook that apps and accounts have in common, and checks that each succeeds. */
const performActs = async (send: Send): Promise<void> => {
  const statuses: number[] = [];
  const act = async (request: [string, string, unknown?]) => {
    const answer = await send(request);
    statuses.push(answer.status);
    return answer;
  };
  await act(['PUT', '', { url: world.receiver.url }]);
  world.receiver.otherwise = 500;
  const eventId: string = (await act(['POST', '/test'])).body.event_id;
  const record = async () => (await send(['GET', `/events/${eventId}`])).body;
  await waitFor(async () => (await record()).attempts === 1);
  await world.database.knex('events').where({ event_id: eventId }).update({ attempts: 7, attempts_in_round: 7 });
  await act(['POST', `/events/${eventId}/deliver-now`]);
  await waitFor(async () => (await record()).status === 'failed');
  await act(['POST', `/events/${eventId}/recover`, { action: 'skip' }]);
  await act(['POST', '/rotate-secret', {}]);
  expect(statuses).toEqual([200, 202, 202, 200, 200]);
};

/** Acts that `performActs` leaves in the audit log, newest first. */
const COMMON_ACTS = [
  'webhook.secret_rotated',
  'webhook.event_recovered',
  'webhook.event_sent',
  'webhook.tested',
  'webhook.configured',
];

describe('roles', () => {
  test('are asked for as the contract says, on every route', async () => {
    expect(await callAsEachRole('webhook-dispatcher', { ...dispatcher, tokens: world.tokens })).toEqual(
      roleMatrixOf('webhook-dispatcher'),
    );
  });

  test('let developers change the webhooks of apps, viewers read them, and admins alone use that of the account', async () => {
    const developer = await newMember('developer');
    const viewer = await newMember('viewer');
    const admin = await newMember('admin');
    await performActs(developer.ofApp);
    expect((await viewer.ofApp(['GET', ''])).body).toMatchObject({ client_id: organization.clientId });
    expect((await viewer.ofApp(['GET', '/events'])).body.data).toHaveLength(1);
    expect(await viewer.ofApp(['POST', '/test'])).toMatchObject({
      status: 403,
      body: { detail: { code: 'role_not_allowed', required_role: 'developer' } },
    });
    for (const { ofAccount } of [developer, viewer]) {
      expect(await ofAccount(['GET', ''])).toMatchObject({
        status: 403,
        body: { detail: { code: 'role_not_allowed', required_role: 'admin' } },
      });
    }
    await performActs(admin.ofAccount);
    expect((await admin.ofAccount(['GET', ''])).body).toMatchObject({ account_id: organization.userId });
  });

  test('reach only what belongs to the organization, not what belongs to the person or to another one', async () => {
    const admin = await newMember('admin');
    const own = newId('app');
    world.standIns.owners.set(own, admin.userId);
    const foreign = await newOwner(world);
    const token = await world.tokens.consoleSession({
      userId: admin.userId,
      organization: { id: organization.userId, role: 'admin' },
    });
    for (const clientId of [own, foreign.clientId]) {
      expect((await call(dispatcher, { clientId, token }, ['GET', '/events'])).status).toBe(404);
    }
    await admin.ofAccount(['PUT', '', { url: world.receiver.url }]);
    const personal = await world.tokens.consoleSession({ userId: admin.userId });
    expect((await callAccount(dispatcher, { token: personal }, ['GET', ''])).status).toBe(404);
    expect((await callAccount(dispatcher, organization, ['GET', ''])).status).toBe(200);
  });

  test('hold as they have changed, in a token that was issued before', async () => {
    const admin = await newMember('admin');
    const { membershipId: id, userId } = admin;
    await admin.ofApp(['PUT', '', { url: world.receiver.url }]);
    const revoke = (superseded: number) =>
      world.operator.jetstream.publish(
        `$KV.revocations.member.${id}`,
        JSON.stringify({ revoked_through: keyVersionText(superseded) }),
      );
    const membership = { id, organization_id: organization.userId, svc_user_id: userId };
    world.standIns.memberships.set(id, { ...membership, role: 'viewer', version: 2 });
    await revoke(1);
    await waitFor(async () => (await admin.ofApp(['POST', '/test'])).status === 403);
    expect((await admin.ofApp(['GET', ''])).status).toBe(200);
    world.standIns.memberships.delete(id);
    await revoke(2);
    await waitFor(async () => (await admin.ofApp(['GET', ''])).status === 401);
  });
});

describe('the audit log', () => {
  test('has each act on the webhook of an app, with who performed it', async () => {
    const developer = await newMember('developer');
    await performActs(developer.ofApp);
    const acts = await actsOf(organization.userId);
    expect(acts.map(({ action }) => action)).toEqual(COMMON_ACTS);
    const target = { type: 'webhook', id: organization.clientId, name: null };
    const source = 'console';
    expect(acts).toMatchObject(COMMON_ACTS.map(() => ({ actor_id: developer.userId, target, source })));
  });

  test('has each act on the webhook of the account, but no deletion of one that is not there', async () => {
    const admin = await newMember('admin');
    expect((await admin.ofAccount(['DELETE', ''])).status).toBe(204);
    expect(await actsOf(organization.userId)).toEqual([]);
    await performActs(admin.ofAccount);
    expect((await admin.ofAccount(['DELETE', ''])).status).toBe(204);
    const acts = await actsOf(organization.userId);
    expect(acts.map(({ action }) => action)).toEqual(['webhook.deleted', ...COMMON_ACTS]);
    expect(acts[0]?.target).toEqual({ type: 'webhook', id: organization.userId, name: null });
  });

  test('has nothing of requests that are refused, and of personal accounts', async () => {
    const developer = await newMember('developer');
    const refused = [
      await developer.ofApp(['PUT', '', { url: 'http://hooks.example.com/' }]),
      await developer.ofApp(['POST', '/test']),
      await developer.ofApp(['POST', '/rotate-secret', {}]),
      await developer.ofApp(['POST', `/events/${newId('evt')}/recover`, { action: 'skip' }]),
    ];
    expect(refused.map(({ status }) => status)).toEqual([422, 409, 409, 404]);
    expect(await actsOf(organization.userId)).toEqual([]);
    const userId = newId('usr');
    const token = await world.tokens.consoleSession({ userId });
    expect((await callAccount(dispatcher, { token }, ['PUT', '', { url: world.receiver.url }])).status).toBe(200);
    expect(await actsOf(userId)).toEqual([]);
  });
});
