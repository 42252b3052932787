import { type Listener, listen } from '@svc/service-kit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { App } from '../src/app.ts';
import { type AuthService, restartAuthService, startAuthService } from './support/auth-service.ts';
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

// Replicas share nothing but the database: what holds here rests on it, and on no queue or memory of one process.

let service: AuthService;
let other: App;
let listener: Listener;
let replicas: readonly [AuthService, AuthService];
let owner: Person;
let strict: RegisteredApp;
let graceful: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  other = await restartAuthService(service);
  listener = await listen(other.publicApp, { port: 0, host: '127.0.0.1' });
  replicas = [service, { ...service, url: listener.url }];
  owner = await newPerson(service, 'business');
  strict = await newApp(service, owner, { refresh_grace_seconds: 0 });
  graceful = await newApp(service, owner);
});
afterAll(async () => {
  await listener.drain(2_000);
  await other.stop();
  await service.stop();
});

const onBoth = <T>(count: number, work: (replica: AuthService) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => work(replicas[index % 2 === 0 ? 0 : 1])));

test('of two concurrent redemptions of one code at most one wins, and its tokens are revoked', async () => {
  for (let round = 0; round < 10; round += 1) {
    const person = await newPerson(service);
    const verifier = newVerifier();
    const code = await approve(service, { app: graceful, person, verifier });
    const answers = await onBoth(20, (replica) => redeem(replica, { app: graceful, code, verifier }));
    const winners = answers.filter(({ status }) => status === 200);
    expect(winners.length).toBeLessThanOrEqual(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(20 - winners.length);
    expect(await service.database('grants').where({ user_id: person.userId })).toEqual([]);
  }
});

test('of two concurrent refreshes without grace one wins, and the grant is revoked', async () => {
  for (let round = 0; round < 10; round += 1) {
    const person = await newPerson(service);
    const { refreshToken } = await connect(service, { app: strict, person });
    const answers = await onBoth(10, (replica) => refresh(replica, { app: strict, token: refreshToken }));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await service.database('grants').where({ user_id: person.userId })).toEqual([]);
  }
});

test('issues five pairs for 50 parallel presentations at both replicas, and revokes the grant', async () => {
  const person = await newPerson(service);
  const { refreshToken } = await connect(service, { app: graceful, person });
  const answers = await onBoth(50, (replica) => refresh(replica, { app: graceful, token: refreshToken }));
  expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(5);
  expect(await service.database('grants').where({ user_id: person.userId })).toEqual([]);
});

test('issues a usable pair from both replicas when each presents one token twice', async () => {
  const person = await newPerson(service);
  const { refreshToken } = await connect(service, { app: graceful, person });
  const answers = await onBoth(4, (replica) => refresh(replica, { app: graceful, token: refreshToken }));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  const [pair] = answers;
  if (pair === undefined) throw new Error('no answer');
  expect((await refresh(replicas[1], { app: graceful, token: textAt(pair, 'refresh_token') })).status).toBe(200);
});

const ends: readonly [string, (person: Person, app: RegisteredApp) => Promise<{ status: number }>][] = [
  [
    'disconnecting',
    (person, app) =>
      call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: person.token }),
  ],
  [
    'deactivating the app',
    (_person, app) =>
      call(`${service.url}/v1/integrations/apps/${app.clientId}`, {
        method: 'PATCH',
        token: owner.token,
        json: { active: false },
      }),
  ],
];

test.each(ends)('after %s at one replica, the other issues nothing, even under load', async (_what, end) => {
  const app = await newApp(service, owner);
  const person = await newPerson(service);
  const grants = await Promise.all(Array.from({ length: 8 }, () => connect(service, { app, person })));
  let hasEnded = false;
  const late: number[] = [];
  const keepRefreshing = async (first: string): Promise<void> => {
    let token = first;
    for (let count = 0, isLate = false; !isLate && count < 1_000; count += 1) {
      isLate = hasEnded;
      const answer = await refresh(replicas[1], { app, token });
      if (isLate) late.push(answer.status);
      if (answer.status === 200) token = textAt(answer, 'refresh_token');
    }
  };
  const busy = Promise.all(grants.map(({ refreshToken }) => keepRefreshing(refreshToken)));
  expect((await end(person, app)).status).toBeLessThan(300);
  hasEnded = true;
  await busy;
  expect(late).toHaveLength(8);
  expect(late.every((status) => status === 400 || status === 401)).toBe(true);
});
