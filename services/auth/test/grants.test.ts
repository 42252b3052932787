import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { call } from './support/http.ts';
import { connect, newApp, newPerson, type Person, type RegisteredApp, refresh } from './support/partner.ts';

let service: AuthService;
let app: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  app = await newApp(service, await newPerson(service, 'business'));
});
afterAll(() => service.stop());

const pathOf = (clientId = app.clientId) => `${service.url}/v1/integrations/connections/${clientId}/grants`;
const list = (person: Person, clientId?: string) => call(pathOf(clientId), { token: person.token });
const end = (person: Person, grantId: string, clientId?: string) =>
  call(`${pathOf(clientId)}/${grantId}`, { method: 'DELETE', token: person.token });

describe('the grants of a connection', () => {
  test('are listed newest first, with their last use', async () => {
    const person = await newPerson(service);
    const first = await connect(service, { app, person });
    const second = await connect(service, { app, person, over: { scope: 'usage:read' } });
    const time = expect.any(String);
    const common = { created_at: time, last_used_at: time, device_name: null };
    expect((await list(person)).body).toEqual({
      data: [
        { id: second.grantId, scope: 'usage:read', ...common },
        { id: first.grantId, scope: 'inference usage:read', ...common },
      ],
    });
  });

  test('end one by one: its tokens are revoked, the others and the connection stay', async () => {
    const person = await newPerson(service);
    const lost = await connect(service, { app, person });
    const kept = await connect(service, { app, person });
    expect((await end(person, lost.grantId)).status).toBe(204);
    expect((await refresh(service, { app, token: lost.refreshToken })).status).toBe(400);
    expect((await refresh(service, { app, token: kept.refreshToken })).status).toBe(200);
    expect(await service.outbox(`revocation:grant.${lost.grantId}`)).toHaveLength(1);
    expect((await list(person)).body).toMatchObject({ data: [{ id: kept.grantId }] });
    const audit = await call(`${service.url}/v1/integrations/connections/${app.clientId}/audit`, {
      token: person.token,
    });
    expect(audit.body).toMatchObject({ data: [{ action: 'grant_ended', client_kind: 'console' }, {}, {}] });
  });

  test('not found: without a connection, of another person or another app, and a grant that has ended', async () => {
    const person = await newPerson(service);
    const stranger = await newPerson(service);
    const other = await newApp(service, await newPerson(service, 'business'));
    const { grantId } = await connect(service, { app, person });
    await connect(service, { app: other, person });
    expect((await list(stranger)).status).toBe(404);
    expect((await end(stranger, grantId)).status).toBe(404);
    expect((await end(person, grantId, other.clientId)).status).toBe(404);
    expect((await end(person, grantId)).status).toBe(204);
    expect((await end(person, grantId)).status).toBe(404);
    expect((await list(person)).body).toEqual({ data: [] });
  });

  test('unauthenticated: 401', async () => {
    expect((await call(pathOf())).status).toBe(401);
    expect((await call(`${pathOf()}/grt_x`, { method: 'DELETE' })).status).toBe(401);
  });
});
