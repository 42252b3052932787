import { internalCredential } from '@svc/testing';
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, restartAuthService, startAuthService } from './support/auth-service.ts';
import { call, textAt } from './support/http.ts';
import { connect, newApp, newPerson, type Person, type RegisteredApp, refresh } from './support/partner.ts';

let service: AuthService;
let person: Person;
let app: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService({ SIGNING_KEY_ROTATION_DAYS: '30' });
  person = await newPerson(service);
  app = await newApp(service, await newPerson(service, 'business'));
});
afterAll(() => service.stop());

const DAY_MS = 24 * 3600 * 1000;
const states = async () =>
  (await service.database('signing_keys').orderBy('created_at').select('state')).map(({ state }) => state);
const kidOf = (token: string) => decodeProtectedHeader(token).kid;
const verifies = async (token: string): Promise<boolean> => {
  const keys = createRemoteJWKSet(new URL(`${service.url}/v1/integrations/oauth/jwks`));
  return await jwtVerify(token, keys, { issuer: service.url, currentDate: new Date() }).then(
    () => true,
    () => false,
  );
};

describe('signing keys', () => {
  test('the first start creates one that signs and one that is published before it signs', async () => {
    expect(await states()).toEqual(expect.arrayContaining(['active', 'next']));
    expect(await states()).toHaveLength(2);
  });

  test('store their private part encrypted only', async () => {
    const rows = await service.database('signing_keys');
    for (const row of rows) {
      expect(Object.keys(row.public_jwk).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
      expect(() => JSON.parse(row.sealed_private_key.toString())).toThrow();
      // PKCS #8 in DER holds the identifier of the curve P-256; the sealed form begins with the id of its key.
      expect(row.sealed_private_key.includes(Buffer.from('2a8648ce3d030107', 'hex'))).toBe(false);
      expect(row.sealed_private_key.subarray(0, 8)).toEqual(rows[0].sealed_private_key.subarray(0, 8));
    }
  });

  test('a rotation breaks no live token: the next key is already published, the old one stays', async () => {
    const before = await connect(service, { app, person });
    const published = (await call(`${service.url}/v1/integrations/oauth/jwks`)).text;
    service.clock.advanceMs(31 * DAY_MS);
    await service.application.keys.refresh();
    service.clock.advanceMs(-31 * DAY_MS);
    expect((await states()).sort()).toEqual(['active', 'next', 'retired']);
    const after = textAt(await refresh(service, { app, token: before.refreshToken }), 'access_token');
    expect(kidOf(after)).not.toBe(kidOf(before.accessToken));
    expect(published).toContain(kidOf(after));
    expect(await Promise.all([verifies(before.accessToken), verifies(after)])).toEqual([true, true]);
    expect((await call(`${service.url}/v1/console/session`, { token: person.token })).status).toBe(200);
  });

  test('a command lets the next key sign at once if it has been published for an hour; repeating it does nothing', async () => {
    const active = async () => (await service.database('signing_keys').where({ state: 'active' }).first('kid')).kid;
    const rotate = (active_kid: string) =>
      call(`${service.internalUrl}/internal/operations/auth/signing-keys/rotate`, {
        method: 'POST',
        token: internalCredential('operator'),
        json: { active_kid },
      });
    const before = await active();
    expect((await rotate(before)).status).toBe(409);
    expect(await active()).toBe(before);
    // The present keys were made in the test above, 31 days ahead.
    service.clock.advanceMs(31 * DAY_MS + DAY_MS / 12);
    expect((await rotate(before)).body).toMatchObject({ rotated: true });
    const after = await active();
    expect(after).not.toBe(before);
    expect((await rotate(before)).body).toMatchObject({ rotated: false });
    expect(await active()).toBe(after);
    service.clock.advanceMs(-31 * DAY_MS - DAY_MS / 12);
  });

  test('a retired key is deleted once its last token has expired', async () => {
    await service
      .database('signing_keys')
      .where({ state: 'retired' })
      .update({ retired_at: new Date(Date.now() - 14 * 3600 * 1000) });
    await service.application.keys.refresh();
    expect((await states()).sort()).toEqual(['active', 'next']);
  });

  test('a next key does not sign before verifiers can know it', async () => {
    await service
      .database('signing_keys')
      .where({ state: 'active' })
      .update({ activated_at: new Date(0) });
    await service.database('signing_keys').where({ state: 'next' }).update({ created_at: service.clock() });
    const [active] = await service.database('signing_keys').where({ state: 'active' });
    await service.application.keys.refresh();
    expect(await service.database('signing_keys').where({ state: 'active' })).toMatchObject([{ kid: active.kid }]);
  });

  test('concurrent rotations of replicas make one rotation', async () => {
    await service
      .database('signing_keys')
      .where({ state: 'active' })
      .update({ activated_at: new Date(0) });
    await service
      .database('signing_keys')
      .where({ state: 'next' })
      .update({ created_at: new Date(0) });
    await Promise.all(Array.from({ length: 5 }, () => service.application.keys.refresh()));
    expect((await states()).sort()).toEqual(['active', 'next', 'retired']);
  });

  test('survive a restart, and a start with another encryption key fails with its name', async () => {
    const { accessToken } = await connect(service, { app, person: await newPerson(service) });
    const again = await restartAuthService(service);
    expect(again.keys.active().kid).toBe(kidOf(accessToken));
    await again.stop();
    await expect(restartAuthService(service, { AUTH_ENCRYPTION_KEY: '33'.repeat(32) })).rejects.toThrow(
      /AUTH_ENCRYPTION_KEY/,
    );
  });
});
