import { internalCredential } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { call, textAt } from './support/http.ts';
import {
  connect,
  newApp,
  newPerson,
  type Person,
  REDIRECT_URI,
  type RegisteredApp,
  refresh,
} from './support/partner.ts';

let service: AuthService;
let owner: Person;
let other: Person;
let personal: Person;

beforeAll(async () => {
  service = await startAuthService();
  [owner, other] = [await newPerson(service, 'business'), await newPerson(service, 'business')];
  personal = await newPerson(service);
});
afterAll(() => service.stop());

const apps = (token: string | undefined, json?: unknown) =>
  call(`${service.url}/v1/integrations/apps`, { token, ...(json === undefined ? {} : { json }) });
const one = (clientId: string, method: string, options: { token?: string; json?: unknown; path?: string } = {}) =>
  call(`${service.url}/v1/integrations/apps/${clientId}${options.path ?? ''}`, {
    method,
    token: options.token ?? owner.token,
    ...(options.json === undefined ? {} : { json: options.json }),
  });
const valid = { name: 'Notes', redirect_uris: [REDIRECT_URI] };

describe('registering', () => {
  test('success: returns the record and, only here, the secret', async () => {
    const answer = await apps(owner.token, {
      ...valid,
      description: 'Keeps notes',
      homepage_url: 'https://notes.example/',
      refresh_grace_seconds: 60,
    });
    expect(answer.status).toBe(201);
    const clientId = textAt(answer, 'client_id');
    const secret = textAt(answer, 'client_secret');
    expect(answer.body).toEqual({
      client_id: expect.stringMatching(/^app_/),
      name: 'Notes',
      description: 'Keeps notes',
      client_type: 'confidential',
      redirect_uris: [REDIRECT_URI],
      homepage_url: 'https://notes.example/',
      privacy_policy_url: null,
      icon_url: `${service.url}/v1/integrations/apps/${clientId}/icon`,
      active: true,
      suspended_at: null,
      refresh_grace_seconds: 60,
      require_pushed_authorization_requests: false,
      dpop_bound_access_tokens: false,
      device_flow: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      secret_rotated_at: null,
      connections_count: 0,
      client_secret: expect.stringMatching(/^svc_cs_[A-Za-z0-9_-]{43}$/),
    });
    const listed = await apps(owner.token);
    expect(listed.body).toEqual({ data: expect.arrayContaining([expect.objectContaining({ client_id: clientId })]) });
    expect(listed.text).not.toContain('client_secret');
    expect(listed.text).not.toContain(secret);
    expect(await service.outbox(`app:${clientId}`)).toEqual([
      expect.objectContaining({
        subject: 'auth.app.registered.v1',
        version: 1,
        payload: { client_id: clientId, owner_user_id: owner.userId, name: 'Notes', active: true },
      }),
    ]);
  });

  test('success: gives a public app no secret, and 30 seconds of grace by default', async () => {
    const answer = await apps(owner.token, {
      ...valid,
      client_type: 'public',
      redirect_uris: ['com.example.notes:/cb'],
    });
    expect(answer.status).toBe(201);
    expect(answer.body).not.toHaveProperty('client_secret');
    expect(answer.body).toMatchObject({ refresh_grace_seconds: 30, client_type: 'public' });
  });

  test.each([
    ['no name', { name: undefined }, ['body', 'name'], 'missing'],
    ['a blank name', { name: '  ' }, ['body', 'name'], 'string_too_short'],
    ['an invisible name', { name: '\u200B\u2060' }, ['body', 'name'], 'value_error'],
    ['a name that turns the text around it', { name: 'Notes \u202Egro.liam' }, ['body', 'name'], 'value_error'],
    ['a long name', { name: 'x'.repeat(81) }, ['body', 'name'], 'string_too_long'],
    ['no redirect URI', { redirect_uris: [] }, ['body', 'redirect_uris'], 'too_short'],
    [
      'eleven of them',
      { redirect_uris: Array.from({ length: 11 }, (_, n) => `${REDIRECT_URI}${n}`) },
      ['body', 'redirect_uris'],
      'too_long',
    ],
    [
      'an unsafe one',
      { redirect_uris: [REDIRECT_URI, 'http://app.example/cb'] },
      ['body', 'redirect_uris', 1],
      'value_error',
    ],
    [
      'a private scheme for a confidential app',
      { redirect_uris: ['com.example.notes:/cb'] },
      ['body', 'redirect_uris', 0],
      'value_error',
    ],
    [
      'the same one twice',
      { redirect_uris: [REDIRECT_URI, REDIRECT_URI] },
      ['body', 'redirect_uris', 1],
      'value_error',
    ],
    [
      'a long one',
      { redirect_uris: [`https://app.example/${'x'.repeat(2048)}`] },
      ['body', 'redirect_uris', 0],
      'string_too_long',
    ],
    ['a long description', { description: 'x'.repeat(501) }, ['body', 'description'], 'string_too_long'],
    ['too much grace', { refresh_grace_seconds: 121 }, ['body', 'refresh_grace_seconds'], 'less_than_equal'],
    ['negative grace', { refresh_grace_seconds: -1 }, ['body', 'refresh_grace_seconds'], 'greater_than_equal'],
    ['a script for a homepage', { homepage_url: 'javascript:alert(1)' }, ['body', 'homepage_url'], 'value_error'],
    ['a homepage without TLS', { homepage_url: 'http://a.example/' }, ['body', 'homepage_url'], 'value_error'],
    [
      'a homepage with userinfo',
      { homepage_url: 'https://bank.example@a.example/' },
      ['body', 'homepage_url'],
      'value_error',
    ],
    [
      'a policy with userinfo',
      { privacy_policy_url: 'https://u:p@a.example/' },
      ['body', 'privacy_policy_url'],
      'value_error',
    ],
    ['an unknown field', { client_id: 'app_mine' }, ['body', 'client_id'], 'extra_forbidden'],
  ])('invalid: %s', async (_what, fields, loc, type) => {
    const answer = await apps(owner.token, { ...valid, ...fields });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ detail: expect.arrayContaining([expect.objectContaining({ loc, type })]) });
  });

  test('invalid: more than 1,000 apps of one account, however many register at once', async () => {
    const collector = await newPerson(service, 'business');
    const { clientId } = await newApp(service, collector);
    await service.database.raw(
      `INSERT INTO apps SELECT (jsonb_populate_record(apps, jsonb_build_object('client_id', client_id || '_' || place))).*
       FROM apps, generate_series(1, 997) AS place WHERE client_id = ?`,
      [clientId],
    );
    const answers = await Promise.all(Array.from({ length: 5 }, () => apps(collector.token, valid)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 422, 422, 422]);
    await one(clientId, 'DELETE', { token: collector.token });
    expect((await apps(collector.token, valid)).status).toBe(201);
  });

  test('unauthenticated and forbidden: requires a session of a business', async () => {
    expect((await apps(undefined, valid)).status).toBe(401);
    const answer = await apps(personal.token, valid);
    expect(answer.status).toBe(403);
    expect(answer.body).toMatchObject({ detail: { code: 'business_account_required' } });
    expect((await apps(personal.token)).status).toBe(403);
  });

  test('refuses an access token', async () => {
    const app = await newApp(service, owner);
    const { accessToken } = await connect(service, { app, person: owner });
    expect((await apps(accessToken)).status).toBe(401);
  });

  test('leads by Location to the app, which its owner alone can get', async () => {
    const answer = await apps(owner.token, valid);
    const location = answer.headers.get('location') ?? '';
    const { client_secret, ...record } = answer.body as { client_secret?: string };
    expect(await call(service.url + location, { token: owner.token })).toMatchObject({ status: 200, body: record });
    expect((await call(service.url + location, { token: other.token })).status).toBe(404);
    expect((await call(service.url + location, { token: personal.token })).status).toBe(403);
    expect((await one('app_unknown', 'GET')).status).toBe(404);
  });

  test('lists only the owner’s apps', async () => {
    const app = await newApp(service, other);
    expect((await apps(owner.token)).text).not.toContain(app.clientId);
  });
});

describe('PATCH an app', () => {
  test('success: changes given fields, clears those set to null, keeps the rest; publishes one fact', async () => {
    const { clientId } = await newApp(service, owner, { description: 'before', homepage_url: 'https://a.example/' });
    const answer = await one(clientId, 'PATCH', {
      json: {
        active: true,
        name: 'After',
        description: null,
        refresh_grace_seconds: 0,
        redirect_uris: ['https://b.example/cb'],
      },
    });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      name: 'After',
      description: null,
      homepage_url: 'https://a.example/',
      refresh_grace_seconds: 0,
      redirect_uris: ['https://b.example/cb'],
    });
    const facts = await service.outbox(`app:${clientId}`);
    expect(facts.map(({ subject, version }) => [subject, version])).toEqual([
      ['auth.app.registered.v1', 1],
      ['auth.app.updated.v1', 2],
    ]);
  });

  test('replay: publishes no second fact for the same change', async () => {
    const { clientId } = await newApp(service, owner);
    await one(clientId, 'PATCH', { json: { active: true, name: 'Twice' } });
    await one(clientId, 'PATCH', { json: { active: true, name: 'Twice' } });
    await one(clientId, 'PATCH', { json: { active: true } });
    expect(await service.outbox(`app:${clientId}`)).toHaveLength(2);
  });

  test('success: deactivates and activates, with facts in order', async () => {
    const { clientId } = await newApp(service, owner);
    await one(clientId, 'PATCH', { json: { active: false, name: 'Off' } });
    await one(clientId, 'PATCH', { json: { active: true } });
    const facts = await service.outbox(`app:${clientId}`);
    expect(facts.map(({ subject, version, payload }) => [subject, version, payload['active']])).toEqual([
      ['auth.app.registered.v1', 1, true],
      ['auth.app.updated.v1', 2, false],
      ['auth.app.suspended.v1', 3, false],
      ['auth.app.activated.v1', 4, true],
    ]);
  });

  test.each([
    ['no active', {}, ['body', 'active'], 'missing'],
    ['a text for active', { active: 'true' }, ['body', 'active'], 'bool_type'],
    ['the type', { active: true, client_type: 'public' }, ['body', 'client_type'], 'extra_forbidden'],
    [
      'an unsafe redirect URI',
      { active: true, redirect_uris: ['https://*.a.example/'] },
      ['body', 'redirect_uris', 0],
      'value_error',
    ],
  ])('invalid: %s', async (_what, json, loc, type) => {
    const { clientId } = await newApp(service, owner);
    const answer = await one(clientId, 'PATCH', { json });
    expect(answer.status).toBe(422);
    expect(answer.body).toEqual({ detail: [expect.objectContaining({ loc, type })] });
  });

  test('not found: returns the same answer for an unknown app and another owner’s', async () => {
    const { clientId } = await newApp(service, other);
    const answers = [
      await one(clientId, 'PATCH', { json: { active: false } }),
      await one('app_unknown', 'PATCH', { json: { active: false } }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([404, 404]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });

  test('forbidden: a personal account', async () => {
    const { clientId } = await newApp(service, owner);
    expect((await one(clientId, 'PATCH', { token: personal.token, json: { active: false } })).status).toBe(403);
  });
});

describe('rotating the secret', () => {
  const rotate = (clientId: string, json?: unknown) => one(clientId, 'POST', { path: '/rotate-secret', json });
  const works = async (app: RegisteredApp, secret: string | undefined) => {
    const { refreshToken } = await connect(service, { app, person: personal });
    const answer = await refresh(service, { app: { ...app, secret }, token: refreshToken });
    return answer.status;
  };

  test('voids the old secret at once without a body', async () => {
    const app = await newApp(service, owner, { client_type: 'confidential' });
    const answer = await rotate(app.clientId);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      client_id: app.clientId,
      client_secret: expect.stringMatching(/^svc_cs_/),
      secret_rotated_at: expect.any(String),
      previous_secret_expires_at: null,
    });
    const next = { ...app, secret: textAt(answer, 'client_secret') };
    expect(await works(next, next.secret)).toBe(200);
    expect(await works(next, app.secret)).toBe(401);
    expect((await apps(owner.token)).text).toContain(`"secret_rotated_at":"${textAt(answer, 'secret_rotated_at')}"`);
  });

  test('keeps both secrets during an overlap, and a second rotation ends the oldest', async () => {
    const app = await newApp(service, owner, { client_type: 'confidential' });
    const first = await rotate(app.clientId, { overlap_seconds: 600 });
    const second = { ...app, secret: textAt(first, 'client_secret') };
    const span =
      Date.parse(textAt(first, 'previous_secret_expires_at')) - Date.parse(textAt(first, 'secret_rotated_at'));
    expect(span).toBe(600_000);
    expect([await works(second, app.secret), await works(second, second.secret)]).toEqual([200, 200]);
    const third = { ...app, secret: textAt(await rotate(app.clientId, { overlap_seconds: 600 }), 'client_secret') };
    expect(await works(third, app.secret)).toBe(401);
    expect(await works(third, second.secret)).toBe(200);
    service.clock.advanceMs(601_000);
    expect([await works(third, second.secret), await works(third, third.secret)]).toEqual([401, 200]);
  });

  test('invalid: refuses an overlap out of bounds', async () => {
    const app = await newApp(service, owner, { client_type: 'confidential' });
    for (const overlap_seconds of [-1, 604_801, 1.5, '60']) {
      expect((await rotate(app.clientId, { overlap_seconds })).status).toBe(422);
    }
  });

  test('conflict: for a public app; not found: for another owner’s', async () => {
    const publicApp = await newApp(service, owner);
    const answer = await rotate(publicApp.clientId);
    expect(answer.status).toBe(409);
    expect(answer.body).toMatchObject({ detail: { code: 'public_client_has_no_secret' } });
    const foreign = await newApp(service, other, { client_type: 'confidential' });
    expect((await rotate(foreign.clientId)).status).toBe(404);
  });
});

describe('icons', () => {
  const png = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(50, 7)]);
  const put = (clientId: string, bytes: Buffer, contentType = 'image/png') =>
    call(`${service.url}/v1/integrations/apps/${clientId}/icon`, {
      method: 'PUT',
      token: owner.token,
      headers: { 'content-type': contentType },
      body: new Uint8Array(bytes),
    });
  const get = (clientId: string, token?: string) =>
    fetch(`${service.url}/v1/integrations/apps/${clientId}/icon`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });

  test('returns a monogram if none is stored, to any signed-in person', async () => {
    const { clientId } = await newApp(service, owner, { name: '<script>é' });
    const icon = await get(clientId, personal.token);
    expect(icon.headers.get('content-type')).toBe('image/svg+xml');
    expect(await icon.text()).toMatch(/^<svg .*>S<\/text><\/svg>$/);
    expect((await get(clientId)).status).toBe(401);
    expect((await get('app_unknown', personal.token)).status).toBe(404);
  });

  test('returns the stored bytes unchanged, with the type of their content', async () => {
    const { clientId } = await newApp(service, owner);
    expect((await put(clientId, png, 'image/gif')).status).toBe(204);
    const icon = await get(clientId, personal.token);
    expect(icon.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await icon.arrayBuffer())).toEqual(png);
    const webp = Buffer.from(`RIFF\0\0\0\0WEBP${'x'.repeat(20)}`, 'latin1');
    expect((await put(clientId, webp, 'application/octet-stream')).status).toBe(204);
    expect((await get(clientId, personal.token)).headers.get('content-type')).toBe('image/webp');
  });

  test.each([
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/svg+xml', 415],
    ['SVG that calls itself PNG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'image/png', 415],
    ['a page', Buffer.from('<html>'), 'text/html', 415],
    ['nothing', Buffer.alloc(0), 'image/png', 422],
    ['too much', Buffer.concat([png, Buffer.alloc(256 * 1024)]), 'image/png', 413],
  ])('refuses %s', async (_what, bytes, contentType, status) => {
    const { clientId } = await newApp(service, owner);
    expect((await put(clientId, bytes, contentType)).status).toBe(status);
  });

  test('not found: another owner’s app', async () => {
    const { clientId } = await newApp(service, other);
    expect((await put(clientId, png)).status).toBe(404);
  });
});

describe('deleting', () => {
  test('success: deletes at once everywhere; facts follow', async () => {
    const app = await newApp(service, owner, { client_type: 'confidential' });
    const { refreshToken } = await connect(service, { app, person: personal });
    expect((await one(app.clientId, 'DELETE')).status).toBe(204);
    expect((await one(app.clientId, 'DELETE')).status).toBe(404);
    expect((await apps(owner.token)).text).not.toContain(app.clientId);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(401);
    const connections = await call(`${service.url}/v1/integrations/connections`, { token: personal.token });
    expect(connections.text).not.toContain(app.clientId);
  });

  test('not found: another owner’s', async () => {
    const { clientId } = await newApp(service, other);
    expect((await one(clientId, 'DELETE')).status).toBe(404);
  });
});

describe('GET /internal/apps/{client_id}', () => {
  const ask = (clientId: string, token: string | undefined) =>
    call(`${service.internalUrl}/internal/apps/${clientId}`, { token });

  test('success: returns the owner and the current activity', async () => {
    const { clientId } = await newApp(service, owner, { name: 'Owned' });
    expect((await ask(clientId, internalCredential('webhook-dispatcher'))).body).toEqual({
      client_id: clientId,
      owner_user_id: owner.userId,
      name: 'Owned',
      active: true,
    });
    await one(clientId, 'PATCH', { json: { active: false } });
    expect((await ask(clientId, internalCredential('webhook-dispatcher'))).body).toMatchObject({ active: false });
    await one(clientId, 'DELETE');
    expect((await ask(clientId, internalCredential('webhook-dispatcher'))).status).toBe(404);
  });

  test('unauthenticated: requires the service credential, and is not on the public port', async () => {
    const { clientId } = await newApp(service, owner);
    expect((await ask(clientId, undefined)).status).toBe(401);
    expect((await ask(clientId, owner.token)).status).toBe(401);
    expect(
      (await call(`${service.url}/internal/apps/${clientId}`, { token: internalCredential('webhook-dispatcher') }))
        .status,
    ).toBe(404);
  });
});

describe('POST /internal/apps/{client_id}/authentications', () => {
  test('accepts the live secrets of an app, active or not, and no others', async () => {
    const app = await newApp(service, owner, { client_type: 'confidential' });
    const isAuthentic = async (clientId: string, secret: string) => {
      const answer = await call(`${service.internalUrl}/internal/apps/${clientId}/authentications`, {
        token: internalCredential('webhook-dispatcher'),
        json: { client_secret: secret },
      });
      return answer.body;
    };
    expect(await isAuthentic(app.clientId, app.secret ?? '')).toEqual({ is_authentic: true });
    expect(await isAuthentic(app.clientId, 'svc_cs_wrong')).toEqual({ is_authentic: false });
    expect(await isAuthentic('app_unknown', app.secret ?? '')).toEqual({ is_authentic: false });
    const url = `${service.url}/v1/integrations/apps/${app.clientId}`;
    await call(url, { method: 'PATCH', token: owner.token, json: { active: false } });
    expect(await isAuthentic(app.clientId, app.secret ?? '')).toEqual({ is_authentic: true });
    await call(url, { method: 'DELETE', token: owner.token });
    expect(await isAuthentic(app.clientId, app.secret ?? '')).toEqual({ is_authentic: false });
  });
});
