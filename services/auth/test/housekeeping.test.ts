import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { tidyUpOf } from './support/background-work.ts';
import { call, textAt } from './support/http.ts';
import { approve, connect, newApp, newPerson, newVerifier, redeem, refresh } from './support/partner.ts';

let service: AuthService;

beforeAll(async () => {
  service = await startAuthService();
});
afterAll(() => service.stop());

const DAY_MS = 24 * 3600 * 1000;
const count = async (table: string): Promise<number> => (await service.database(table)).length;
const tidy = () => tidyUpOf(service);

test('deletes rows that can no longer be used, and keeps the others', async () => {
  const owner = await newPerson(service, 'business');
  const person = await newPerson(service);
  const app = await newApp(service, owner);
  const used = await connect(service, { app, person });
  await approve(service, { app, person, verifier: newVerifier() });
  await call(`${service.url}/v1/console/sessions`, { json: { email: person.email, password: 'not the password' } });
  const before = await Promise.all(['console_sessions', 'authorization_codes', 'refresh_tokens', 'grants'].map(count));

  await tidy();
  expect(await Promise.all(['console_sessions', 'authorization_codes', 'refresh_tokens', 'grants'].map(count))).toEqual(
    before,
  );
  // A failure, and the sign-ups of two people.
  expect(await count('sign_in_attempts')).toBe(3);
  await service.database('denied_forms').insert({ digest: Buffer.alloc(32), expires_at: service.clock() });

  service.clock.advanceMs(2 * DAY_MS);
  await tidy();
  expect(await Promise.all(['console_sessions', 'sign_in_attempts', 'denied_forms'].map(count))).toEqual([0, 0, 0]);
  // The code that was used stays: presented again, it still ends its grant.
  expect(await service.database('authorization_codes')).toMatchObject([{ grant_id: used.grantId }]);
  expect((await redeem(service, { app, ...used })).status).toBe(400);
  expect((await refresh(service, { app, token: used.refreshToken })).status).toBe(400);

  service.clock.advanceMs(40 * DAY_MS);
  const lastUse = await service.database('connections').where({ user_id: person.userId }).first();
  expect(lastUse.last_used_at).not.toBeNull();
  await tidy();
  expect(await Promise.all(['authorization_codes', 'refresh_tokens', 'grants'].map(count))).toEqual([0, 0, 0]);
});

test('deletes a grant unused for a month; its connection stays and keeps the last use', async () => {
  const person = await newPerson(service);
  const app = await newApp(service, await newPerson(service, 'business'));
  const { grantId } = await connect(service, { app, person });
  const list = () => call(`${service.url}/v1/integrations/connections`, { token: person.token });
  const lastUse = textAt(await list(), 'data', 0, 'last_used_at');
  service.clock.advanceMs(32 * DAY_MS);
  await tidy();
  service.clock.advanceMs(-32 * DAY_MS);
  expect(await service.database('grants').where({ id: grantId })).toEqual([]);
  const row = await service.database('connections').where({ user_id: person.userId }).first();
  expect([row.ended_at, row.last_used_at.toISOString()]).toEqual([null, lastUse]);
});

test('deletes in one round what expires between two rounds at 5,000 rows a second', async () => {
  await service.database.raw(
    `INSERT INTO dpop_proofs (digest, expires_at)
     SELECT sha256(i::text::bytea), now() - interval '1 day' FROM generate_series(1, 300000) i`,
  );
  await tidy();
  expect(await service.database('dpop_proofs').count({ rows: '*' })).toEqual([{ rows: 0 }]);
}, 120_000);
