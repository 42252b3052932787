import { accountOperations, type InspectedAccount, newId } from '@svc/contracts';
import { AppError, type InternalClient } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { Secret, TOTP } from 'otpauth';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { openOperator } from './support/operator.ts';
import { connect, newApp, newPerson, PASSWORD, type Person, refresh } from './support/partner.ts';

const WAIT = { timeoutMs: 20_000 };

let service: AuthService;
let mailbox: Mailbox;
let operator: InternalClient;

beforeAll(async () => {
  mailbox = await startMailbox();
  service = await startAuthService({ MAIL_URL: mailbox.url });
  operator = openOperator(service, 'ada');
});
afterAll(async () => {
  await operator?.close();
  await service?.stop();
  await mailbox?.stop();
});

const find = async (body: { email: string } | { svc_user_id: string }): Promise<InspectedAccount> =>
  (await operator.call(accountOperations.findAccount, { body })).body;
const endSessions = async ({ userId: svc_user_id }: Person, access: boolean) =>
  (await operator.call(accountOperations.endAccountSessions, { params: { svc_user_id }, body: { access } })).body;
const erase = async ({ userId: svc_user_id }: Person, at_once: boolean) =>
  (await operator.call(accountOperations.eraseAccount, { params: { svc_user_id }, body: { at_once } })).body;
const resetFactors = async ({ userId: svc_user_id }: Person) =>
  (await operator.call(accountOperations.resetFactors, { params: { svc_user_id } })).body;
const signIn = ({ email }: Person): Promise<Answer> =>
  call(`${service.url}/v1/console/sessions`, { json: { email, password: PASSWORD } });
const isSignedIn = async ({ token }: Person) =>
  (await call(`${service.url}/v1/console/session`, { token })).status === 200;

const enrolTotp = async ({ token }: Person): Promise<void> => {
  const path = `${service.url}/v1/console/account/factors/totp`;
  const added = await call(path, { token, json: {} });
  const secret = Secret.fromBase32(textAt(added, 'secret'));
  const code = new TOTP({ secret }).generate({ timestamp: service.clock().getTime() });
  expect((await call(`${path}/${textAt(added, 'id')}/confirm`, { token, json: { code } })).status).toBe(200);
};

describe('an operator', () => {
  test('finds an account by its address in any case, or by its id', async () => {
    const person = await newPerson(service);
    await connect(service, { app: await newApp(service, await newPerson(service, 'business')), person });
    const found = await find({ email: ` ${person.email.toUpperCase()}` });
    expect(found).toMatchObject({
      account: { svc_user_id: person.userId, email: person.email },
      has_password: true,
      factors: [],
      recovery_codes_left: 0,
      connections: 1,
      erased_at: null,
    });
    expect(found.sessions).toBeGreaterThan(0);
    expect(await find({ svc_user_id: person.userId })).toEqual(found);
  });

  test('gets not_found for an unknown address or id', async () => {
    await expect(find({ email: 'unknown@example.com' })).rejects.toMatchObject({ code: 'not_found' });
    const params = { svc_user_id: newId('usr') };
    for (const attempt of [
      () => operator.call(accountOperations.resetFactors, { params }),
      () => operator.call(accountOperations.endAccountSessions, { params, body: { access: true } }),
      () => operator.call(accountOperations.eraseAccount, { params, body: { at_once: true } }),
    ]) {
      const refused = await attempt().catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(AppError);
      expect(refused).toMatchObject({ code: 'not_found' });
    }
  });

  test('resets lost second factors: the password is enough, the owner gets a mail, a second reset does nothing', async () => {
    const person = await newPerson(service);
    await enrolTotp(person);
    expect(textAt(await signIn(person), 'detail', 'code')).toBe('second_factor_required');
    expect(await resetFactors(person)).toEqual({ removed: 1 });
    expect((await signIn(person)).status).toBe(201);
    expect((await find({ email: person.email })).recovery_codes_left).toBe(0);
    await waitFor(
      () => mailbox.mailsTo(person.email).some(({ text }) => /Support removed|L’assistenza ha rimosso/.test(text)),
      WAIT,
    );
    expect(await resetFactors(person)).toEqual({ removed: 0 });
  });

  test('ends sessions, but connections and API keys only with `access`', async () => {
    const person = await newPerson(service);
    const app = await newApp(service, await newPerson(service, 'business'));
    const { refreshToken } = await connect(service, { app, person });
    expect((await endSessions(person, false)).ended).toBeGreaterThan(0);
    expect(await isSignedIn(person)).toBe(false);
    const refreshed = await refresh(service, { app, token: refreshToken });
    expect(refreshed.status).toBe(200);
    expect(await endSessions(person, true)).toEqual({ ended: 0 });
    expect((await refresh(service, { app, token: textAt(refreshed, 'refresh_token') })).status).toBe(400);
    expect(await service.outbox(`revocation:keys.${person.userId}`)).toHaveLength(1);
  });

  test('voids mailed password links when ending sessions', async () => {
    const person = await newPerson(service);
    await call(`${service.url}/v1/console/password-resets`, { json: { email: person.email } });
    const token = await mailbox.tokenFor(person.email, 'reset-password');
    await endSessions(person, false);
    const json = { token, password: 'an entirely other password' };
    const answer = await call(`${service.url}/v1/console/password-resets/confirm`, { json });
    expect([answer.status, textAt(answer, 'detail', 'code')]).toEqual([400, 'token_invalid']);
  });

  test('schedules an erasure, brings it forward, and cannot cancel it afterwards', async () => {
    const person = await newPerson(service);
    const later = await erase(person, false);
    expect(await erase(person, false)).toEqual(later);
    expect(await isSignedIn(person)).toBe(false);
    const token = await mailbox.tokenFor(person.email, 'cancel-deletion');
    const now = await erase(person, true);
    expect(Date.parse(now.erased_at)).toBeLessThan(Date.parse(later.erased_at));
    const cancelled = await call(`${service.url}/v1/console/account/deletion/cancel`, { json: { token } });
    expect(cancelled.status).toBe(400);
    await waitFor(
      async () => (await service.database('accounts').where({ id: person.userId }).first()) === undefined,
      WAIT,
    );
    const facts = await service.outbox(`account_deletion:${person.userId}`);
    expect(facts.map(({ subject, version }) => [subject, version])).toEqual([
      ['auth.account.deletion_requested.v1', 1],
      ['auth.account.deletion_requested.v1', 2],
      ['auth.account.erased.v1', 3],
    ]);
  });

  test('is named in the audit log with the account’s id, and no log contains an address', async () => {
    const person = await newPerson(service);
    await find({ email: person.email });
    await resetFactors(person);
    const audited = service
      .logs()
      .split('\n')
      .filter((line) => line.includes('"operator:ada"'));
    expect(audited.some((line) => line.includes('"findAccount"'))).toBe(true);
    expect(audited.some((line) => line.includes('"resetFactors"') && line.includes(person.userId))).toBe(true);
    expect(service.logs()).not.toContain(person.email);
  });
});
