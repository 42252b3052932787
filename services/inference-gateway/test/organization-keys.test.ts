import { internalRoutes, keyVersionText, newId } from '@svc/contracts';
import type { Messaging } from '@svc/messaging';
import { digestManagementKey, managementKeyText } from '@svc/service-kit';
import { callAsEachRole, roleMatrixOf, waitFor } from '@svc/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  callKeys,
  connectAsAuth,
  createKeyAs,
  type Member,
  newMember,
  publishRemoval,
} from './support/organization.ts';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
let auth: Messaging;
let organizationId: string;
let admin: Member;
let developer: Member;

beforeAll(async () => {
  gateway = await startGateway();
  auth = await connectAsAuth(gateway);
});
afterAll(async () => {
  await auth.close();
  await gateway.stop();
});
beforeEach(async () => {
  organizationId = newId('usr');
  admin = await newMember(gateway, { organizationId, role: 'admin' });
  developer = await newMember(gateway, { organizationId, role: 'developer' });
});

const idsOf = async (member: { token: string }): Promise<string[]> =>
  (await callKeys(gateway, member, ['GET', ''])).body.data.map(({ id }: { id: string }) => id);
const get = async (member: { token: string }, { id }: { id: string }) =>
  (await callKeys(gateway, member, ['GET', `/${id}`])).body;
const statusOfUse = async ({ key }: { key: string }): Promise<number> =>
  (await fetch(`${gateway.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })).status;
const nameLookups = () => gateway.tokens.auth.lookups.filter(({ path }) => path === internalRoutes.nameAccounts.path);

describe('roles', () => {
  test('are asked for as the contract says, on every route', async () => {
    expect(await callAsEachRole('inference-gateway', gateway)).toEqual(roleMatrixOf('inference-gateway'));
  });

  test('let viewers read only usage, and members who pay only look at keys', async () => {
    const matrix = roleMatrixOf('inference-gateway');
    const readers = Object.entries(matrix).filter(([, results]) => results.viewer === 'allowed');
    const lookers = Object.entries(matrix).filter(([, results]) => results.billing === 'allowed');
    expect(readers.map(([operation]) => operation).sort()).toEqual(
      ['getGatewayReceipt', 'listGatewayUsage', 'summarizeGatewayUsage'].sort(),
    );
    expect(lookers.map(([operation]) => operation)).toEqual(expect.arrayContaining(['getKey', 'listKeys']));
    expect(lookers.length).toBe(readers.length + 2);
  });

  test('limit a developer to own keys, and show those of others as missing', async () => {
    const own = await createKeyAs(gateway, developer);
    const other = await createKeyAs(gateway, admin);
    expect(await idsOf(developer)).toEqual([own.id]);
    expect(await idsOf(admin)).toEqual([other.id, own.id]);
    expect(await idsOf(await newMember(gateway, { organizationId, role: 'billing' }))).toEqual([other.id, own.id]);
    const requests = (id: string): [string, string, unknown?][] => [
      ['GET', `/${id}`],
      ['PATCH', `/${id}`, { name: 'Renamed' }],
      ['POST', `/${id}/rotate`, {}],
      ['DELETE', `/${id}`],
    ];
    const statuses = async (id: string) => {
      const results = [];
      for (const request of requests(id)) results.push((await callKeys(gateway, developer, request)).status);
      return results;
    };
    expect(await statuses(other.id)).toEqual([404, 404, 404, 404]);
    expect(await get(admin, other)).toMatchObject({ name: 'A key' });
    expect(await statusOfUse(other)).toBe(200);
    expect(await statuses(own.id)).toEqual([200, 200, 200, 204]);
  });

  test('do not limit the own account of a person who is a developer elsewhere', async () => {
    const { userId } = developer;
    const personal = { token: await gateway.tokens.consoleSession({ userId }) };
    const { id } = await createKeyAs(gateway, personal);
    expect(await idsOf(personal)).toEqual([id]);
    expect(await idsOf(developer)).toEqual([]);
    expect(await idsOf(admin)).toEqual([]);
  });

  test('hold as they have changed, in a token that was issued before', async () => {
    const { id } = await createKeyAs(gateway, admin);
    const { membershipId, userId } = admin;
    const change = async (role: 'developer' | 'viewer' | undefined, superseded: number) => {
      const membership = { id: membershipId, organization_id: organizationId, svc_user_id: userId };
      gateway.tokens.auth.memberships.delete(membershipId);
      if (role !== undefined) {
        gateway.tokens.auth.memberships.set(membershipId, { ...membership, role, version: superseded + 1 });
      }
      const value = { revoked_through: keyVersionText(superseded) };
      await auth.jetstream.publish(`$KV.revocations.member.${membershipId}`, JSON.stringify(value));
    };
    const foreign = await createKeyAs(gateway, developer);
    await change('developer', 1);
    await waitFor(async () => (await callKeys(gateway, admin, ['GET', `/${foreign.id}`])).status === 404);
    expect(await idsOf(admin)).toEqual([id]);
    await change('viewer', 2);
    await waitFor(async () => (await callKeys(gateway, admin, ['GET', `/${id}`])).status === 403);
    expect((await callKeys(gateway, admin, ['GET', ''])).body.detail).toMatchObject({
      code: 'role_not_allowed',
      required_role: 'billing',
    });
    await change(undefined, 3);
    await waitFor(async () => (await callKeys(gateway, admin, ['GET', ''])).status === 401);
  });
});

describe('the creator of a key', () => {
  test('is named, by one look-up for a list, and from then on from memory', async () => {
    gateway.tokens.auth.names.set(developer.userId, 'Dana');
    const first = await createKeyAs(gateway, developer);
    expect(first).toMatchObject({ created_by: { svc_user_id: developer.userId, name: 'Dana' }, creator_left: false });
    gateway.tokens.auth.names.set(admin.userId, 'Ada');
    const other = await newMember(gateway, { organizationId, role: 'admin' });
    const before = nameLookups().length;
    await gateway.database.knex('api_keys').insert({
      ...(await gateway.database.knex('api_keys').where({ id: first.id }).first()),
      id: newId('key'),
      hash: Buffer.alloc(48, 1),
      created_by: admin.userId,
    });
    const creators = async () =>
      (await callKeys(gateway, other, ['GET', ''])).body.data.map(
        ({ created_by }: { created_by: { name: string } }) => created_by.name,
      );
    expect(await creators()).toEqual(['Ada', 'Dana']);
    expect(await creators()).toEqual(['Ada', 'Dana']);
    expect(nameLookups().slice(before)).toMatchObject([{ ids: [admin.userId] }]);
  });

  test('has no name while auth is silent, and the list does not wait for one', async () => {
    gateway.tokens.auth.isSilent = true;
    const { id } = await createKeyAs(gateway, developer);
    expect(await get(developer, { id })).toMatchObject({ created_by: { svc_user_id: developer.userId, name: null } });
    gateway.tokens.auth.isSilent = false;
    gateway.tokens.auth.names.set(developer.userId, 'Dana');
    expect(await get(developer, { id })).toMatchObject({ created_by: { name: 'Dana' } });
  });

  test('is shown to the key itself', async () => {
    gateway.tokens.auth.names.set(developer.userId, 'Dana');
    const { key } = await createKeyAs(gateway, developer);
    const answer = await fetch(`${gateway.url}/v1/key`, { headers: { authorization: `Bearer ${key}` } });
    expect(JSON.parse(await answer.text())).toMatchObject({
      created_by: { svc_user_id: developer.userId, name: 'Dana' },
      creator_left: false,
    });
  });

  test('is, for a management key, the person who created that one', async () => {
    const token = managementKeyText.generate();
    gateway.tokens.auth.managementKeys.set(digestManagementKey(token).toString('hex'), {
      id: newId('mk'),
      svc_user_id: organizationId,
      created_by: admin.userId,
      session_id: newId('ses'),
      account_type: 'business',
      is_email_unverified: false,
      scopes: ['api_keys:write'],
      expires_at: null,
    });
    const { id, created_by } = await createKeyAs(gateway, { token });
    expect(created_by.svc_user_id).toBe(admin.userId);
    expect(await idsOf({ token })).toEqual([id]);
    const own = await createKeyAs(gateway, developer);
    expect((await callKeys(gateway, { token }, ['PATCH', `/${own.id}`, { creator_left: false }])).status).toBe(200);
  });

  test('is named to billing with each lease, for the limit of the member', async () => {
    const { key, id } = await createKeyAs(gateway, developer);
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'svc-chat', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    expect(answer.status).toBe(200);
    await answer.text();
    const asks = gateway.billing.asks.filter(({ key_id }) => key_id === id);
    expect(asks.length).toBeGreaterThan(0);
    expect(asks.every((ask) => ask.member_id === developer.userId && ask.svc_user_id === organizationId)).toBe(true);
  });
});

describe('the keys of a member who leaves', () => {
  test('are marked and go on, until an admin keeps them', async () => {
    const left = await createKeyAs(gateway, developer);
    const kept = await createKeyAs(gateway, admin);
    const elsewhere = { organizationId: newId('usr'), role: 'developer', userId: developer.userId } as const;
    const other = await newMember(gateway, elsewhere);
    const untouched = await createKeyAs(gateway, other);
    await publishRemoval(auth, developer);
    await waitFor(async () => (await get(admin, left)).creator_left);
    expect(await get(admin, kept)).toMatchObject({ creator_left: false });
    expect(await get(other, untouched)).toMatchObject({ creator_left: false });
    expect(await statusOfUse(left)).toBe(200);

    const again = await newMember(gateway, { organizationId, role: 'developer', userId: developer.userId });
    const keep: [string, string, unknown] = ['PATCH', `/${left.id}`, { creator_left: false }];
    expect(await get(again, left)).toMatchObject({ creator_left: true });
    const stranger = await newMember(gateway, { organizationId, role: 'developer' });
    expect(await callKeys(gateway, stranger, keep)).toMatchObject({
      status: 404,
      body: { detail: { code: 'not_found' } },
    });
    expect(await callKeys(gateway, again, keep)).toMatchObject({
      status: 403,
      body: { detail: { code: 'role_not_allowed', required_role: 'admin' } },
    });
    expect((await callKeys(gateway, again, ['PATCH', `/${left.id}`, { name: 'Renamed' }])).body).toMatchObject({
      name: 'Renamed',
      creator_left: true,
    });
    expect(await callKeys(gateway, admin, keep)).toMatchObject({ status: 200, body: { creator_left: false } });
    expect(await statusOfUse(left)).toBe(200);
    expect((await callKeys(gateway, admin, ['PATCH', `/${left.id}`, { creator_left: true }])).status).toBe(422);
  });

  test('can be deleted by an admin', async () => {
    const left = await createKeyAs(gateway, developer);
    await publishRemoval(auth, developer);
    await waitFor(async () => (await get(admin, left)).creator_left);
    expect((await callKeys(gateway, admin, ['DELETE', `/${left.id}`])).status).toBe(204);
    expect(await statusOfUse(left)).toBe(401);
  });

  test('do not become more by a token that is still valid, even at the same moment', async () => {
    const creating = Promise.all(
      Array.from({ length: 10 }, () => callKeys(gateway, developer, ['POST', '', { name: 'x' }])),
    );
    await publishRemoval(auth, developer);
    await creating;
    const isOver = () =>
      gateway.database.knex('ended_memberships').where({ membership_id: developer.membershipId }).first();
    await waitFor(isOver);
    expect((await callKeys(gateway, developer, ['POST', '', { name: 'Late' }])).status).toBe(401);
    const { data } = (await callKeys(gateway, admin, ['GET', ''])).body;
    expect(data.every((key: { creator_left: boolean }) => key.creator_left)).toBe(true);
    const again = await newMember(gateway, { organizationId, role: 'developer', userId: developer.userId });
    expect((await callKeys(gateway, again, ['POST', '', { name: 'New' }])).status).toBe(201);
  });

  test('are not those that the person creates after joining again, even if the removal arrives late', async () => {
    const before = await createKeyAs(gateway, developer);
    const again = await newMember(gateway, { organizationId, role: 'developer', userId: developer.userId });
    const after = await createKeyAs(gateway, again);
    const anHourAgo = new Date(Date.now() - 3_600_000);
    await gateway.database.knex('api_keys').where({ id: before.id }).update({ created_at: anHourAgo });
    await publishRemoval(auth, developer, anHourAgo);
    await waitFor(async () => (await get(admin, before)).creator_left);
    expect(await get(admin, after)).toMatchObject({ creator_left: false });
  });
});
