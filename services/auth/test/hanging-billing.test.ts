import { listen } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call } from './support/http.ts';
import {
  connect,
  consentRequest,
  newApp,
  newPerson,
  newVerifier,
  PASSWORD,
  type Person,
  type RegisteredApp,
  refresh,
} from './support/partner.ts';

const POOL = 4;
const CONSENTS = 20;
const BUDGET = { limit_micros: 5_000_000, period: 'week' };

let service: AuthService;
let billing: Awaited<ReturnType<typeof listen>>;
let app: RegisteredApp;
let waiting = 0;

beforeAll(async () => {
  // Accepts every request and answers none.
  billing = await listen(
    () => {
      waiting += 1;
    },
    { host: '127.0.0.1', port: 0 },
  );
  service = await startAuthService({ BILLING_INTERNAL_URL: billing.url, DATABASE_POOL_MAX: String(POOL) });
  app = await newApp(service, await newPerson(service, 'business'));
});
afterAll(async () => {
  await service?.stop();
  await billing?.drain(0);
});

const consent = (person: Person): Promise<Answer> =>
  call(`${service.url}/v1/integrations/oauth/authorize`, {
    token: person.token,
    json: consentRequest(app, newVerifier(), { budget: BUDGET }),
  });
const limitTo = (person: Person): Promise<Answer> =>
  call(`${service.url}/v1/integrations/connections/${app.clientId}`, {
    token: person.token,
    method: 'PATCH',
    json: { budget: BUDGET },
  });
const openTransactions = async (): Promise<number> => {
  const { rows } = await service.database.raw(
    `SELECT count(*) AS count FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle in transaction' AND pid <> pg_backend_pid()`,
  );
  return Number(rows[0].count);
};

describe('while billing hangs', () => {
  test.each([
    ['consents with a budget', consent],
    ['changes of a budget', limitTo],
  ])('%s hold no transaction, and sign-in and token exchange answer as usual', async (_what, act) => {
    const people: Person[] = [];
    for (let index = 0; index < CONSENTS; index += 1) people.push(await newPerson(service));
    const tokens = new Map<Person, string>();
    for (const person of people) tokens.set(person, (await connect(service, { app, person })).refreshToken);
    waiting = 0;
    const began = performance.now();
    const acts = Promise.all(people.map(act));
    while (waiting < CONSENTS) await new Promise((resolve) => setTimeout(resolve, 10));
    // Background work may be in a transaction for a moment.
    await waitFor(async () => (await openTransactions()) === 0, { timeoutMs: 1_000 });
    const [person] = people;
    if (person === undefined) throw new Error('no person signed up');
    const json = { email: person.email, password: PASSWORD };
    expect((await call(`${service.url}/v1/console/sessions`, { json })).status).toBe(201);
    expect((await refresh(service, { app, token: tokens.get(person) ?? '' })).status).toBe(200);
    expect(waiting).toBe(CONSENTS);
    const answers = await acts;
    expect(answers.map(({ status }) => status)).toEqual(people.map(() => 503));
    // Each waits for one time-out of two seconds, side by side.
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
