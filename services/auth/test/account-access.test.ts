import { newId } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { findAccountById, lockAccount } from '../src/accounts/index.ts';
import { originOf } from '../src/connections/index.ts';
import { endAccess } from '../src/credentials/index.ts';
import { type AuthService, mailSealer, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import {
  approve,
  connect,
  newApp,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  type RegisteredApp,
  redeem,
  refresh,
} from './support/partner.ts';

let service: AuthService;
let apps: RegisteredApp[];
let person: Person;

beforeAll(async () => {
  service = await startAuthService();
  const owner = await newPerson(service, 'business');
  apps = await Promise.all([newApp(service, owner), newApp(service, owner)]);
});
afterAll(() => service.stop());
beforeEach(async () => {
  person = await newPerson(service);
});

const changePassword = (fields: object): Promise<Answer> =>
  call(`${service.url}/v1/console/account/password`, {
    token: person.token,
    json: { current_password: PASSWORD, new_password: 'another long enough passphrase', ...fields },
  });
const connectionsOf = async (token: string) =>
  (await call(`${service.url}/v1/integrations/connections`, { token })).body;
const connectAll = () => Promise.all(apps.map((app) => connect(service, { app, person })));
const appAt = (index: number): RegisteredApp => {
  const app = apps[index];
  if (app === undefined) throw new Error('no such app');
  return app;
};

describe('POST /v1/console/account/password with revoke_access', () => {
  test('ends grants and connections with their facts, and publishes the end of the API keys', async () => {
    const granted = await connectAll();
    const pendingVerifier = newVerifier();
    const pendingCode = await approve(service, { app: appAt(0), person, verifier: pendingVerifier });
    const answer = await changePassword({ revoke_access: true });
    expect(answer.status).toBe(200);

    for (const [index, { refreshToken }] of granted.entries()) {
      expect((await refresh(service, { app: appAt(index), token: refreshToken })).status).toBe(400);
    }
    const redeemed = await redeem(service, { app: appAt(0), code: pendingCode, verifier: pendingVerifier });
    expect(redeemed.status).toBe(400);
    expect(await connectionsOf(textAt(answer, 'session_token'))).toEqual({ data: [] });
    for (const { grantId } of granted) {
      expect(await service.outbox(`revocation:grant.${grantId}`)).toHaveLength(1);
    }
    for (const { clientId } of apps) {
      const facts = await service.outbox(`connection:${person.userId}:${clientId}`);
      expect(facts.at(-1)).toMatchObject({
        subject: 'auth.connection.revoked.v1',
        version: facts.length,
        payload: { reason: 'user_disconnected' },
      });
    }
  });

  test('publishes a fact and a revocation of the keys, which name the newest ended session', async () => {
    const answer = await changePassword({ revoke_access: true });
    const [account] = await service.outbox(`revocation:account.${person.userId}`);
    const [keys] = await service.outbox(`revocation:keys.${person.userId}`);
    const [fact] = (await service.outbox()).filter(
      ({ subject, payload }) => subject === 'auth.account.access_ended.v1' && payload['svc_user_id'] === person.userId,
    );
    const through = account?.payload['revoked_through'];
    expect([keys?.payload['revoked_through'], fact?.payload['sessions_revoked_through']]).toEqual([through, through]);
    const kept = await connect(service, {
      app: appAt(0),
      person: { ...person, token: textAt(answer, 'session_token') },
    });
    expect((await refresh(service, { app: appAt(0), token: kept.refreshToken })).status).toBe(200);
  });

  test('keeps grants and API keys if the field is absent', async () => {
    const [granted] = await connectAll();
    expect((await changePassword({})).status).toBe(200);
    expect((await refresh(service, { app: appAt(0), token: granted?.refreshToken ?? '' })).status).toBe(200);
    expect(await service.outbox(`revocation:keys.${person.userId}`)).toEqual([]);
  });

  test('changes nothing if the transaction fails', async () => {
    const [granted] = await connectAll();
    const failing = service.database.transaction(async (trx) => {
      const locked = await lockAccount(trx, person.userId);
      if (locked === undefined) throw new Error('no account');
      const ended = { account: locked.account, origin: originOf('192.0.2.1', 'console'), now: service.clock() };
      const deps = { newId, clock: service.clock, mailSealer };
      await endAccess(deps, trx, { ...ended, endings: ['sign_out', 'revocation'] });
      throw new Error('rolled back');
    });
    await expect(failing).rejects.toThrow('rolled back');
    expect(await findAccountById(service.database, person.userId)).toMatchObject({ sessionsRevokedThrough: null });
    expect((await refresh(service, { app: appAt(0), token: granted?.refreshToken ?? '' })).status).toBe(200);
    expect(await service.outbox(`revocation:keys.${person.userId}`)).toEqual([]);
  });
});

describe('a consent while access ends', () => {
  test('leaves no live grant, whichever commits first', async () => {
    for (let round = 0; round < 5; round += 1) {
      person = await newPerson(service);
      const consents = Array.from({ length: 8 }, (_, index) => {
        const verifier = newVerifier();
        return approve(service, { app: appAt(index % 2), person, verifier }).catch(() => undefined);
      });
      const [answer] = await Promise.all([changePassword({ revoke_access: true }), ...consents]);
      expect(answer.status).toBe(200);
      expect(await service.database('grants').where({ user_id: person.userId })).toEqual([]);
    }
  });
});
