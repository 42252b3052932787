import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { call, textAt } from './support/http.ts';
import {
  approve,
  connect,
  newApp,
  newPerson,
  newVerifier,
  type Person,
  type RegisteredApp,
  redeem,
  refresh,
} from './support/partner.ts';

let service: AuthService;
let owner: Person;
let strict: RegisteredApp;
let graceful: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  owner = await newPerson(service, 'business');
  strict = await newApp(service, owner, { refresh_grace_seconds: 0 });
  graceful = await newApp(service, owner);
});
afterAll(() => service.stop());

const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(index)));
const disconnect = (person: Person, app: RegisteredApp) =>
  call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: person.token });
const setActive = (app: RegisteredApp, active: boolean) =>
  call(`${service.url}/v1/integrations/apps/${app.clientId}`, {
    method: 'PATCH',
    token: owner.token,
    json: { active },
  });

describe('many at once', () => {
  test('of 40 parallel redemptions of one code at most one wins, and its tokens are revoked', async () => {
    for (let round = 0; round < 5; round += 1) {
      const person = await newPerson(service);
      const verifier = newVerifier();
      const code = await approve(service, { app: graceful, person, verifier });
      const answers = await times(40, () => redeem(service, { app: graceful, code, verifier }));
      const winners = answers.filter(({ status }) => status === 200);
      expect(winners.length).toBeLessThanOrEqual(1);
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(40 - winners.length);
      for (const winner of winners) {
        const token = textAt(winner, 'refresh_token');
        expect((await refresh(service, { app: graceful, token })).status).toBe(400);
      }
      expect(await service.database('grants').where({ user_id: person.userId })).toEqual([]);
    }
  });

  test('issues five pairs when one refresh token is presented 50 times in parallel, and revokes them all', async () => {
    for (let round = 0; round < 3; round += 1) {
      const person = await newPerson(service);
      const { refreshToken, grantId } = await connect(service, { app: graceful, person });
      const answers = await times(50, () => refresh(service, { app: graceful, token: refreshToken }));
      const pairs = answers.filter(({ status }) => status === 200).map((answer) => textAt(answer, 'refresh_token'));
      expect(pairs.length).toBeLessThanOrEqual(5);
      expect(answers.filter(({ status }) => status === 400)).toHaveLength(50 - pairs.length);
      expect(await service.outbox(`revocation:grant.${grantId}`)).toHaveLength(1);
      for (const token of pairs) expect((await refresh(service, { app: graceful, token })).status).toBe(400);
    }
  });

  test('exchanges one of five siblings when all are presented in parallel, and revokes the grant', async () => {
    const person = await newPerson(service);
    const { refreshToken } = await connect(service, { app: graceful, person });
    const siblings = await times(5, () => refresh(service, { app: graceful, token: refreshToken }));
    expect(siblings.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const answers = await Promise.all(
      siblings.map((sibling) => refresh(service, { app: graceful, token: textAt(sibling, 'refresh_token') })),
    );
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    expect(await service.database('grants').where({ user_id: person.userId })).toEqual([]);
  });

  test('of 20 parallel refreshes without grace one wins, and the grant is revoked', async () => {
    const person = await newPerson(service);
    const { refreshToken } = await connect(service, { app: strict, person });
    const answers = await times(20, () => refresh(service, { app: strict, token: refreshToken }));
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners).toHaveLength(1);
    for (const winner of winners) {
      expect((await refresh(service, { app: strict, token: textAt(winner, 'refresh_token') })).status).toBe(400);
    }
  });

  test('10 parallel consents of one person make one connection, with gapless fact versions', async () => {
    const person = await newPerson(service);
    await times(10, () => approve(service, { app: graceful, person, verifier: newVerifier() }));
    expect(await service.database('connections').where({ user_id: person.userId })).toHaveLength(1);
    expect(await service.database('grants').where({ user_id: person.userId })).toHaveLength(10);
    const facts = await service.outbox(`connection:${person.userId}:${graceful.clientId}`);
    expect(facts.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test('of 10 parallel disconnects one succeeds, and one fact is published', async () => {
    const person = await newPerson(service);
    await connect(service, { app: graceful, person });
    const answers = await times(10, () => disconnect(person, graceful));
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 9 }, () => 404)]);
    const facts = await service.outbox(`connection:${person.userId}:${graceful.clientId}`);
    expect(facts.map(({ subject }) => subject)).toEqual(['auth.connection.created.v1', 'auth.connection.revoked.v1']);
  });
});

describe('against each other', () => {
  const fates: readonly [string, (person: Person, app: RegisteredApp) => Promise<unknown>][] = [
    ['disconnecting', disconnect],
    ['deactivating', (_person, app) => setActive(app, false)],
  ];

  test.each(fates)('%s at any point of a refresh leaves no refresh token alive', async (_what, end) => {
    let issued = 0;
    for (let delayMs = 0; delayMs <= 14; delayMs += 1) {
      const app = await newApp(service, owner);
      const person = await newPerson(service);
      const { refreshToken } = await connect(service, { app, person });
      const flying = refresh(service, { app, token: refreshToken });
      await sleep(delayMs);
      await end(person, app);
      const answer = await flying;
      expect([200, 400, 401]).toContain(answer.status);
      if (answer.status !== 200) continue;
      issued += 1;
      await setActive(app, true);
      expect((await refresh(service, { app, token: textAt(answer, 'refresh_token') })).status).toBe(400);
    }
    expect(issued).toBeGreaterThan(0);
  });

  test('deactivating at any point of a consent leaves its code invalid or never issued', async () => {
    for (let delayMs = 0; delayMs <= 10; delayMs += 1) {
      const app = await newApp(service, owner);
      const person = await newPerson(service);
      const verifier = newVerifier();
      const flying = approve(service, { app, person, verifier }).catch(() => undefined);
      await sleep(delayMs);
      await setActive(app, false);
      const code = await flying;
      await setActive(app, true);
      if (code !== undefined) expect((await redeem(service, { app, code, verifier })).status).toBe(400);
      // Consenting again works at once.
      await connect(service, { app, person });
    }
  });

  test('concurrent refreshes, disconnects and reuse of one person cause no error and no deadlock', async () => {
    const person = await newPerson(service);
    const grants = await times(8, () => connect(service, { app: strict, person }));
    const answers = await Promise.all([
      ...grants.map(({ refreshToken }) => refresh(service, { app: strict, token: refreshToken })),
      ...grants.map(({ refreshToken }) => refresh(service, { app: strict, token: refreshToken })),
      ...grants.map(({ code, verifier }) => redeem(service, { app: strict, code, verifier })),
      disconnect(person, strict),
      ...grants.map(() =>
        approve(service, { app: strict, person, verifier: newVerifier() }).then(() => ({ status: 200 })),
      ),
    ]);
    expect(answers.filter(({ status }) => status >= 500)).toEqual([]);
  });
});
