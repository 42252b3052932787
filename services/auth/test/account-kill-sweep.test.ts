import { fileURLToPath } from 'node:url';
import { camelKeys, type SnakeKeys } from '@svc/database';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { waitFor } from '@svc/testing';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { MailRecord } from '../src/mail/queries.ts';
import { openMail } from '../src/mail/send-due-mails.ts';
import { type AuthProcess, startAuthProcess } from './support/auth-process.ts';
import { mailSealer, newEmail } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { createKillSweep, type Sweep } from './support/kill-sweep.ts';
import { connect, newApp, newPerson, PASSWORD, type Person } from './support/partner.ts';
import { putWriteStops, type WriteStops } from './support/write-stops.ts';

/** As `kill-sweep.test.ts`, for the life of an account: nothing is half done, and each act mails its notice once. */

const RECOVERY_CODES = 10;
const NEW_PASSWORD = 'another long enough passphrase';
const WAIT = { timeoutMs: 30_000 };

let database: TestDatabase;
let nats: TestNats;
let service: AuthProcess;
let stops: WriteStops;
let sweep: Sweep;

beforeAll(async () => {
  const migrations = fileURLToPath(new URL('../migrations', import.meta.url));
  [database, nats] = await Promise.all([testDatabase({ migrations }), testNats()]);
  service = await startAuthProcess({ databaseUrl: database.url, natsUrl: nats.urlOf('auth') });
  stops = await putWriteStops(database.knex);
  sweep = createKillSweep({ service, stops });
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await stops?.release('lost');
  await database?.drop();
  await nats?.stop();
});

const post = (path: string, json: object, token?: string): Promise<Answer> =>
  call(`${service.url}/v1/console${path}`, { json, token });
const mailsOf = ({ userId }: Person, kind: string) => database.knex('mails').where({ user_id: userId, kind });
const accountOf = ({ userId }: Person) => database.knex('accounts').where({ id: userId }).first();
const signIn = async (email: string, password = PASSWORD): Promise<number> =>
  (await post('/sessions', { email, password })).status;
/** The mail server is away, so mails wait with their data. */
const tokenOf = async (person: Person, kind: string): Promise<string> => {
  await waitFor(async () => (await mailsOf(person, kind)).length > 0, WAIT);
  const [row]: SnakeKeys<MailRecord>[] = await mailsOf(person, kind);
  if (row === undefined) throw new Error('no mail');
  const { data } = openMail(mailSealer, camelKeys(row));
  return 'token' in data ? data.token : '';
};
const factsOf = async ({ userId }: Person): Promise<string[]> =>
  await database
    .knex('outbox')
    .where({ aggregate: `account_deletion:${userId}` })
    .orderBy('seq')
    .pluck('subject');

test('a killed password reset changes password, access, link and notice together or not at all', async () => {
  const points = await sweep('reset', async () => {
    const person = await newPerson(service);
    await post('/password-resets', { email: person.email });
    const token = await tokenOf(person, 'reset_password');
    const reset = () => post('/password-resets/confirm', { token, password: NEW_PASSWORD });
    return {
      act: reset,
      check: async () => {
        const isDone = (await mailsOf(person, 'password_changed')).length === 1;
        expect(await signIn(person.email)).toBe(isDone ? 401 : 201);
        expect((await reset()).status).toBe(isDone ? 400 : 204);
        expect(await signIn(person.email, NEW_PASSWORD)).toBe(201);
        expect(await mailsOf(person, 'password_changed')).toHaveLength(1);
      },
    };
  });
  expect(points.slice(0, 2)).toEqual(['mailed_tokens DELETE', 'accounts UPDATE']);
  expect(points.filter((point) => point === 'mails INSERT')).toHaveLength(1);
}, 300_000);

test('a killed address change changes address, links and notice together or not at all', async () => {
  await sweep('change of address', async () => {
    const person = await newPerson(service);
    const email = newEmail();
    const asked = await post('/account/email', { current_password: PASSWORD, email }, person.token);
    expect(asked.status).toBe(202);
    const token = await tokenOf(person, 'confirm_email_change');
    const confirm = () => post('/account/email/confirm', { token });
    return {
      act: confirm,
      check: async () => {
        const isDone = (await mailsOf(person, 'email_changed')).length === 1;
        expect((await accountOf(person)).email).toBe(isDone ? email : person.email);
        expect((await confirm()).status).toBe(isDone ? 400 : 200);
        expect(await signIn(email)).toBe(201);
        expect(await mailsOf(person, 'email_changed')).toHaveLength(1);
      },
    };
  });
}, 300_000);

test('a killed enrolment of an authenticator app changes factor, account, codes and notice together or not at all', async () => {
  await sweep('authenticator app', async () => {
    const person = await newPerson(service);
    const added = await post('/account/factors/totp', {}, person.token);
    const totp = new TOTP({ secret: Secret.fromBase32(textAt(added, 'secret')) });
    const confirm = () =>
      post(`/account/factors/totp/${textAt(added, 'id')}/confirm`, { code: totp.generate() }, person.token);
    return {
      act: confirm,
      check: async () => {
        const isDone = (await mailsOf(person, 'factor_changed')).length === 1;
        expect(await signIn(person.email)).toBe(isDone ? 401 : 201);
        expect((await confirm()).status).toBe(isDone ? 404 : 200);
        expect(await signIn(person.email)).toBe(401);
        expect(await database.knex('recovery_codes').where({ user_id: person.userId })).toHaveLength(RECOVERY_CODES);
        expect(await mailsOf(person, 'factor_changed')).toHaveLength(1);
      },
    };
  });
}, 300_000);

test('a killed deletion request changes access, apps, link, mail and fact together or not at all', async () => {
  await sweep('request to delete', async () => {
    const person = await newPerson(service, 'business');
    const { clientId } = await newApp(service, person);
    const remove = (token: string) =>
      call(`${service.url}/v1/console/account`, { method: 'DELETE', token, json: { password: PASSWORD } });
    return {
      act: () => remove(person.token),
      check: async () => {
        const isDone = (await accountOf(person)).erase_at !== null;
        const app = await database.knex('apps').where({ client_id: clientId }).first();
        expect(app.active).toBe(!isDone);
        expect((await remove(person.token)).status).toBe(isDone ? 401 : 202);
        expect(await mailsOf(person, 'deletion_requested')).toHaveLength(1);
        expect(await factsOf(person)).toEqual(['auth.account.deletion_requested.v1']);
      },
    };
  });
}, 300_000);

test('a killed erasure completes later, with one fact after the last one of each app', async () => {
  await sweep('erasure', async () => {
    const person = await newPerson(service, 'business');
    const customer = await newPerson(service);
    const app = await newApp(service, person);
    await connect(service, { app, person: customer });
    const removed = await call(`${service.url}/v1/console/account`, {
      method: 'DELETE',
      token: person.token,
      json: { password: PASSWORD },
    });
    expect(textAt(removed, 'erased_at')).not.toBe('');
    const standing = () => database.knex('app_suspensions').where({ client_id: app.clientId });
    await waitFor(async () => (await standing()).length === 0, WAIT);
    const isGone = async () => (await accountOf(person)) === undefined;
    return {
      act: async () => {
        await database.knex('accounts').where({ id: person.userId }).update({ erase_at: new Date() });
        return removed;
      },
      isSettled: isGone,
      check: async () => {
        await waitFor(isGone, WAIT);
        expect(await factsOf(person)).toEqual(['auth.account.deletion_requested.v1', 'auth.account.erased.v1']);
        const aboutApp = await database
          .knex('outbox')
          .where({ aggregate: `app:${app.clientId}` })
          .orderBy('seq')
          .pluck('subject');
        expect(aboutApp.filter((subject) => subject === 'auth.app.deleted.v1')).toHaveLength(1);
        for (const table of ['mails', 'mailed_tokens', 'console_sessions', 'connections'])
          expect(await database.knex(table).where({ user_id: person.userId })).toEqual([]);
      },
    };
  });
}, 300_000);
