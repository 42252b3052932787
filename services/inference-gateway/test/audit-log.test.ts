import { newId, type RecordedAct } from '@svc/contracts';
import { digestManagementKey, managementKeyText } from '@svc/service-kit';
import { captureLogs, internalCredentialFor, waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startActPruning } from '../src/api-keys/open-api-keys.ts';
import { callKeys, createKeyAs, newMember } from './support/organization.ts';
import { startGateway, type TestGateway } from './support/start-gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway.stop());

const actsOf = async (organizationId: string, query = 'limit=100'): Promise<RecordedAct[]> => {
  const path = `/internal/inference-gateway/acts/${organizationId}?${query}`;
  const headers = { authorization: `Bearer ${internalCredentialFor('GET', path)}` };
  const answer = await fetch(`${gateway.internalUrl}${path}`, { headers });
  expect(answer.status).toBe(200);
  return JSON.parse(await answer.text()).data;
};

test('records each act on a key with who performed it, newest first', async () => {
  const organizationId = newId('usr');
  const admin = await newMember(gateway, { organizationId, role: 'admin' });
  const developer = await newMember(gateway, { organizationId, role: 'developer' });
  const { id } = await createKeyAs(gateway, developer, 'Nightly');
  await callKeys(gateway, admin, ['PATCH', `/${id}`, { name: 'Daily' }]);
  await callKeys(gateway, developer, ['POST', `/${id}/rotate`, {}]);
  await callKeys(gateway, admin, ['DELETE', `/${id}`]);
  const acts = await actsOf(organizationId);
  const act = (action: string, actor_id: string, name: string) => ({
    action,
    actor_id,
    target: { type: 'api_key', id, name },
    source: 'console',
  });
  expect(acts).toMatchObject([
    act('api_key.deleted', admin.userId, 'Daily'),
    act('api_key.rotated', developer.userId, 'Daily'),
    act('api_key.updated', admin.userId, 'Daily'),
    act('api_key.created', developer.userId, 'Nightly'),
  ]);
  expect(await actsOf(organizationId, `limit=1&actor=${developer.userId}`)).toEqual([acts[1]]);
  expect(await actsOf(organizationId, `limit=100&action=api_key.deleted`)).toEqual([acts[0]]);
  expect(await actsOf(organizationId, `limit=2&after=${acts[1]?.id}`)).toEqual(acts.slice(2));
});

test('records acts of management keys as those of their creators, and of a business that signs in as its own', async () => {
  const userId = newId('usr');
  const personId = newId('usr');
  const token = managementKeyText.generate();
  gateway.tokens.auth.managementKeys.set(digestManagementKey(token).toString('hex'), {
    id: newId('mk'),
    svc_user_id: userId,
    created_by: personId,
    session_id: newId('ses'),
    account_type: 'business',
    is_email_unverified: false,
    scopes: ['api_keys:write'],
    expires_at: null,
  });
  const founder = { token: await gateway.tokens.consoleSession({ userId, accountType: 'business' }) };
  await createKeyAs(gateway, { token });
  await createKeyAs(gateway, founder);
  expect(await actsOf(userId)).toMatchObject([
    { actor_id: userId, source: 'console' },
    { actor_id: personId, source: 'management_key' },
  ]);
});

test('records nothing for a personal account, and for requests that are refused', async () => {
  const userId = newId('usr');
  const personal = { token: await gateway.tokens.consoleSession({ userId }) };
  await createKeyAs(gateway, personal);
  expect(await actsOf(userId)).toEqual([]);
  const organizationId = newId('usr');
  const developer = await newMember(gateway, { organizationId, role: 'developer' });
  const refused = [
    await callKeys(gateway, developer, ['POST', '', { name: 'x', expires_at: '2020-01-01T00:00:00Z' }]),
    await callKeys(gateway, developer, ['PATCH', `/${newId('key')}`, { name: 'x' }]),
    await callKeys(gateway, developer, ['DELETE', `/${newId('key')}`]),
  ];
  expect(refused.map(({ status }) => status)).toEqual([422, 404, 404]);
  expect(await actsOf(organizationId)).toEqual([]);
});

test('deletes acts after 400 days, and lets nothing change or delete them before', async () => {
  const organizationId = newId('usr');
  const { knex } = gateway.database;
  const act = (days: number) => ({
    id: newId('aud'),
    organization_id: organizationId,
    at: new Date(Date.now() - days * 86_400_000),
    actor_id: newId('usr'),
    action: 'api_key.created',
    target_type: 'api_key',
    source: 'console',
  });
  const old = act(401);
  const young = act(399);
  await knex('audit_log').insert([old, young]);
  const pruning = startActPruning({ database: knex, logger: captureLogs().logger });
  await waitFor(async () => (await actsOf(organizationId)).length === 1);
  await pruning.stop();
  expect(await actsOf(organizationId)).toMatchObject([{ id: young.id }]);
  await expect(knex('audit_log').where({ id: young.id }).delete()).rejects.toThrow(/append-only/);
  await expect(knex('audit_log').where({ id: young.id }).update({ actor_id: null })).rejects.toThrow(/append-only/);
});
