import {
  internalRoutes,
  type ManagementScope,
  managementScopes,
  newId,
  routesOf,
  sufficientScopes,
} from '@svc/contracts';
import { createInternalClient, digestManagementKey } from '@svc/service-kit';
import { internalCredential } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockAccount } from '../src/accounts/index.ts';
import { OWN_ORIGIN } from '../src/connections/index.ts';
import { endAccess } from '../src/credentials/index.ts';
import { type AuthService, mailSealer, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { newApp, newPerson, type Person } from './support/partner.ts';

const MINUTE_MS = 60_000;

let service: AuthService;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service?.stop());

const path = (id = ''): string => `${service.url}/v1/console/management-keys${id === '' ? '' : `/${id}`}`;
const create = (person: Person, over: object = {}): Promise<Answer> =>
  call(path(), { token: person.token, json: { name: 'Deploy', scopes: ['apps:read'], ...over } });
const newKey = async (person: Person, ...scopes: ManagementScope[]): Promise<{ id: string; key: string }> => {
  const answer = await create(person, { scopes });
  expect(answer.status, answer.text).toBe(201);
  return { id: textAt(answer, 'id'), key: textAt(answer, 'key') };
};
const listApps = (token: string): Promise<Answer> => call(`${service.url}/v1/integrations/apps`, { token });
const list = async (person: Person): Promise<Record<string, unknown>[]> =>
  ((await call(path(), { token: person.token })).body as { data: Record<string, unknown>[] }).data;
const codeOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];

describe('a management key', () => {
  test('is shown once, stored as a digest, listed with its scopes, and its owner gets a mail', async () => {
    const person = await newPerson(service, 'business');
    const scopes = ['webhooks:write', 'apps:read', 'apps:read'];
    const answer = await create(person, { name: ' Deploy ', scopes, expires_at: '2999-01-01T00:00:00Z' });
    expect(answer.status, answer.text).toBe(201);
    const key = textAt(answer, 'key');
    expect(key).toMatch(/^svc_mk_[0-9a-hjkmnp-tv-z]{47}$/);
    expect(answer.headers.get('location')).toContain(textAt(answer, 'id'));
    const expected = {
      id: textAt(answer, 'id'),
      name: 'Deploy',
      prefix: key.slice(0, 13),
      scopes: ['apps:read', 'webhooks:write'],
      expires_at: '2999-01-01T00:00:00.000Z',
      last_used_at: null,
    };
    expect(await list(person)).toEqual([{ ...expected, created_at: expect.any(String) }]);
    const [row] = await service.database('management_keys').where({ id: expected.id });
    expect(row.digest).toEqual(digestManagementKey(key));
    expect(JSON.stringify(await service.database('management_keys'))).not.toContain(key.slice(14));
    expect(service.logs()).not.toContain(key);
    const mails = await service.database('mails').where({ user_id: person.userId, kind: 'management_key_created' });
    expect(mails).toHaveLength(1);
  });

  test.each([
    ['a name with hidden characters', { name: 'a\u202eb' }, 'name'],
    ['no scope', { scopes: [] }, 'scopes'],
    ['an unknown scope', { scopes: ['apps:delete'] }, 'scopes'],
    ['an expiry that has passed', { expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ])('is refused with 422 for %s', async (_what, over, field) => {
    const answer = await create(await newPerson(service), over);
    expect([answer.status, answer.text.includes(field)]).toEqual([422, true]);
  });

  test('is one of at most a hundred', async () => {
    const person = await newPerson(service);
    const { id } = await newKey(person, 'wallet:read');
    const [row] = await service.database('management_keys').where({ id });
    const others = Array.from({ length: 99 }, (_, place) => ({
      ...row,
      id: `${id}${place}`,
      digest: Buffer.from([place]),
    }));
    await service.database('management_keys').insert(others);
    expect((await create(person)).status).toBe(422);
    await call(path(id), { method: 'DELETE', token: person.token });
    expect((await create(person)).status).toBe(201);
  });

  test('needs a recent authentication to be created and deleted', async () => {
    const person = await newPerson(service);
    const { id } = await newKey(person, 'wallet:read');
    service.clock.advanceMs(16 * MINUTE_MS);
    expect(codeOf(await create(person))).toEqual([403, 'reauthentication_required']);
    const deleted = await call(path(id), { method: 'DELETE', token: person.token });
    expect(codeOf(deleted)).toEqual([403, 'reauthentication_required']);
    expect((await call(path(), { token: person.token })).status).toBe(200);
  });

  test('is dead at once when it is deleted, by its owner alone, and when it expires', async () => {
    const person = await newPerson(service, 'business');
    const { id, key } = await newKey(person, 'apps:read');
    expect((await listApps(key)).status).toBe(200);
    const stranger = await newPerson(service);
    expect((await call(path(id), { method: 'DELETE', token: stranger.token })).status).toBe(404);
    expect((await call(path(id), { method: 'DELETE', token: person.token })).status).toBe(204);
    expect(codeOf(await listApps(key))).toEqual([401, 'invalid_token']);
    expect((await call(path(id), { method: 'DELETE', token: person.token })).status).toBe(404);
    expect(await service.outbox(`revocation:management_key.${id}`)).toHaveLength(1);
    const short = await create(person, { expires_at: new Date(service.clock().getTime() + MINUTE_MS).toISOString() });
    service.clock.advanceMs(MINUTE_MS);
    expect(codeOf(await listApps(textAt(short, 'key')))).toEqual([401, 'invalid_token']);
  });

  test('shows its last use, which is written at most once a minute', async () => {
    const person = await newPerson(service, 'business');
    const { id, key } = await newKey(person, 'apps:read');
    await listApps(key);
    const [first] = await list(person);
    expect(first?.['last_used_at']).toEqual(expect.any(String));
    const stored = () => service.database('management_keys').where({ id }).first('xmin', 'last_used_at');
    const before = await stored();
    await listApps(key);
    expect(await stored()).toEqual(before);
    service.clock.advanceMs(MINUTE_MS + 1);
    await listApps(key);
    expect((await stored()).last_used_at > before.last_used_at).toBe(true);
  });
});

describe('the routes of auth', () => {
  const consoleRoutes = routesOf('auth').filter(({ managementScope }) => managementScope !== undefined);

  test('take a key with their scope or the one that includes it, and name the scope to others', async () => {
    const owner = await newPerson(service, 'business');
    const app = await newApp(service, owner);
    const keys = new Map<ManagementScope, string>();
    for (const scope of managementScopes) keys.set(scope, (await newKey(owner, scope)).key);
    for (const { method, path: template, managementScope } of consoleRoutes) {
      const url = `${service.url}${template.replace('{client_id}', app.clientId).replaceAll(/\{[^}]+\}/g, 'x')}`;
      for (const [scope, token] of keys) {
        const isAllowed = managementScope != null && sufficientScopes(managementScope).includes(scope);
        // A body that no route takes: nothing changes.
        const answer = await call(url, { method, token, ...(method === 'GET' ? {} : { json: [] }) });
        const named = managementScope == null ? '' : `, scope="${managementScope}"`;
        const challenge = isAllowed ? null : `Bearer error="insufficient_scope"${named}`;
        expect([method, template, scope, answer.headers.get('www-authenticate')]).toEqual([
          method,
          template,
          scope,
          challenge,
        ]);
        if (!isAllowed) expect(codeOf(answer)).toEqual([403, 'insufficient_scope']);
        // A deletion takes no body, so the app is gone after it.
        if (isAllowed && method === 'DELETE') expect(answer.status).toBe(204);
      }
    }
  });

  test('register an app for a key, whose action is logged with account and key', async () => {
    const business = await newPerson(service, 'business');
    const { id, key } = await newKey(business, 'apps:write');
    const answer = await call(`${service.url}/v1/integrations/apps`, {
      token: key,
      json: { name: 'Notes', redirect_uris: ['https://app.example/callback'] },
    });
    expect(answer.status, answer.text).toBe(201);
    expect(service.logs()).toContain(`"actor":"${business.userId} by ${id}"`);
    const { key: personal } = await newKey(await newPerson(service), 'apps:write');
    expect(codeOf(await listApps(personal))).toEqual([403, 'business_account_required']);
  });
});

test('the other services find a key by its digest, in the order of their question', async () => {
  const business = await newPerson(service, 'business');
  const { id, key } = await newKey(business, 'wallet:read');
  const client = createInternalClient({
    baseUrl: service.internalUrl,
    token: internalCredential('billing'),
    timeoutMs: 5_000,
  });
  const digests = ['00'.repeat(32), digestManagementKey(key).toString('hex')];
  const { body } = await client.call(internalRoutes.findManagementKeys, { body: { digests } });
  await client.close();
  expect(body.data).toEqual([
    null,
    {
      id,
      svc_user_id: business.userId,
      created_by: business.userId,
      session_id: expect.stringMatching(/^ses_/),
      account_type: 'business',
      is_email_unverified: false,
      scopes: ['wallet:read'],
      expires_at: null,
    },
  ]);
});

test('an intrusion ends the keys added since, and lets earlier ones create API keys as a later session', async () => {
  const person = await newPerson(service);
  const old = await newKey(person, 'api_keys:write');
  const since = new Date(service.clock().getTime() + 1);
  service.clock.advanceMs(1_000);
  await newKey(person, 'api_keys:write');
  const [before] = await service.database('management_keys').where({ id: old.id });
  const deps = { newId, clock: service.clock, mailSealer };
  await service.database.transaction(async (trx) => {
    const account = (await lockAccount(trx, person.userId))?.account;
    if (account === undefined) throw new Error('no account');
    const ended = { account, origin: OWN_ORIGIN, now: service.clock(), distrustedSince: since };
    await endAccess(deps, trx, { ...ended, endings: ['sign_out', 'intrusion'] });
  });
  const left = await service.database('management_keys').where({ user_id: person.userId });
  const { sessions_revoked_through: through } = await service.database('accounts').where({ id: person.userId }).first();
  expect(left.map(({ id }) => id)).toEqual([old.id]);
  expect([before.session_id <= through, left[0].session_id > through]).toEqual([true, true]);
});
