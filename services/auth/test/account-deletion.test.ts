import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { newMember } from './support/organization.ts';
import { connect, newApp, newPerson, PASSWORD, type Person, refresh } from './support/partner.ts';

const DAY_MS = 24 * 3_600_000;
const WAIT = { timeoutMs: 20_000 };

let service: AuthService;
let mailbox: Mailbox;

beforeAll(async () => {
  mailbox = await startMailbox();
  service = await startAuthService({ MAIL_URL: mailbox.url });
});
afterAll(async () => {
  await service?.stop();
  await mailbox?.stop();
});

const remove = (person: Person, json: object = { password: PASSWORD }): Promise<Answer> =>
  call(`${service.url}/v1/console/account`, { method: 'DELETE', token: person.token, json });
const cancel = (token: string): Promise<Answer> =>
  call(`${service.url}/v1/console/account/deletion/cancel`, { json: { token } });
const signIn = ({ email }: Person): Promise<Answer> =>
  call(`${service.url}/v1/console/sessions`, { json: { email, password: PASSWORD } });
const codeOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];
const accountOf = ({ userId }: Person) => service.database('accounts').where({ id: userId }).first();
const deletionFactsOf = async ({ userId }: Person) =>
  (await service.outbox(`account_deletion:${userId}`)).map(({ subject, version }) => [subject, version]);

describe('DELETE /v1/console/account', () => {
  test('ends sessions, connections and API keys at once, deactivates apps and publishes the time of erasure', async () => {
    const person = await newPerson(service, 'business');
    const own = await newApp(service, person);
    const customer = await newPerson(service);
    const foreign = await newApp(service, await newPerson(service, 'business'));
    await connect(service, { app: own, person: customer });
    const { refreshToken } = await connect(service, { app: foreign, person });
    const before = service.clock().getTime();
    const answer = await remove(person);
    expect(answer.status).toBe(202);
    const erasedAt = Date.parse(textAt(answer, 'erased_at'));
    expect(erasedAt).toBeGreaterThanOrEqual(before + 7 * DAY_MS);
    expect(erasedAt).toBeLessThanOrEqual(service.clock().getTime() + 7 * DAY_MS);
    expect((await call(`${service.url}/v1/console/session`, { token: person.token })).status).toBe(401);
    expect((await refresh(service, { app: foreign, token: refreshToken })).status).toBe(400);
    expect(await service.outbox(`revocation:keys.${person.userId}`)).toHaveLength(1);
    expect(await service.database('apps').where({ client_id: own.clientId }).first()).toMatchObject({ active: false });
    expect(await deletionFactsOf(person)).toEqual([['auth.account.deletion_requested.v1', 1]]);
    expect(codeOf(await signIn(person))).toEqual([403, 'account_deletion_pending']);
    const standing = () =>
      service.database('connections').where({ client_id: own.clientId }).whereNull('ended_at').first();
    await waitFor(async () => (await standing()) === undefined, WAIT);
    await mailbox.tokenFor(person.email, 'cancel-deletion');
  });

  test('requires an authentication of the last 15 minutes and the password, however recent the sign-in', async () => {
    const person = await newPerson(service);
    expect(codeOf(await remove(person, { password: 'not this one' }))).toEqual([403, 'wrong_password']);
    for (const missing of [{}, { password: null }])
      expect(codeOf(await remove(person, missing))).toEqual([403, 'wrong_password']);
    service.clock.advanceMs(16 * 60_000);
    expect(codeOf(await remove(person))).toEqual([403, 'reauthentication_required']);
    const fresh = { ...person, token: textAt(await signIn(person), 'session_token') };
    expect(await accountOf(person)).toMatchObject({ erase_at: null });
    service.clock.advanceMs(14 * 60_000);
    expect((await remove(fresh)).status).toBe(202);
  });

  test('requires only the recent authentication from an account without a password', async () => {
    const person = await newPerson(service);
    await service.database('accounts').where({ id: person.userId }).update({ password_hash: null });
    expect((await remove(person, {})).status).toBe(202);
  });
});

describe('POST /v1/console/account/deletion/cancel', () => {
  test('keeps the account with its apps deactivated, and works once', async () => {
    const person = await newPerson(service, 'business');
    const app = await newApp(service, person);
    await remove(person);
    const token = await mailbox.tokenFor(person.email, 'cancel-deletion');
    expect((await cancel(token)).status).toBe(204);
    expect(codeOf(await cancel(token))).toEqual([400, 'token_invalid']);
    expect((await signIn(person)).status).toBe(201);
    expect(await deletionFactsOf(person)).toEqual([
      ['auth.account.deletion_requested.v1', 1],
      ['auth.account.deletion_cancelled.v1', 2],
    ]);
    service.clock.advanceMs(8 * DAY_MS);
    await waitFor(async () => (await accountOf(person)).erase_at === null, WAIT);
    expect(await service.database('apps').where({ client_id: app.clientId }).first()).toMatchObject({ active: false });
  });

  test('mails the cancel link to the previous address when the owner undoes an address change by a thief', async () => {
    const person = await newPerson(service);
    const thief = `thief-${person.email}`;
    const change = { current_password: PASSWORD, email: thief };
    await call(`${service.url}/v1/console/account/email`, { token: person.token, json: change });
    const undo = await mailbox.tokenFor(person.email, 'undo-email');
    const confirmed = { token: await mailbox.tokenFor(thief, 'confirm-email') };
    await call(`${service.url}/v1/console/account/email/confirm`, { json: confirmed });
    await remove(person);
    const theirs = await mailbox.tokenFor(thief, 'cancel-deletion');
    expect((await call(`${service.url}/v1/console/account/email/undo`, { json: { token: undo } })).status).toBe(200);
    expect(codeOf(await cancel(theirs))).toEqual([400, 'token_invalid']);
    expect((await cancel(await mailbox.tokenFor(person.email, 'cancel-deletion'))).status).toBe(204);
  });
});

test('the owner who deletes an organization gets a link that cancels it, also once its own sign-in was removed', async () => {
  const founder = await newPerson(service, 'business');
  const owner = await newMember(service, mailbox, { organization: founder, role: 'owner' });
  const founded = `${service.url}/v1/console/organization/members/${founder.userId}`;
  expect((await call(founded, { method: 'DELETE', token: owner.acting })).status).toBe(204);
  expect((await remove({ ...owner, token: owner.acting })).status).toBe(202);
  const token = await mailbox.tokenFor(owner.email, 'cancel-deletion');
  expect(
    mailbox
      .mailsTo(founder.email)
      .flatMap(({ links }) => links)
      .join(),
  ).not.toContain('cancel-deletion');
  expect((await cancel(token)).status).toBe(204);
  const url = `${service.url}/v1/console/organizations`;
  expect((await call(url, { token: owner.token })).body).toMatchObject({
    data: [{ id: founder.userId, role: 'owner' }],
  });
});

describe('the erasure', () => {
  test('deletes apps first, then all personal data, and frees the address', async () => {
    const person = await newPerson(service, 'business');
    const app = await newApp(service, person, { name: 'App of a person' });
    const customer = await newPerson(service);
    await connect(service, { app, person: customer });
    const foreign = await newApp(service, await newPerson(service, 'business'));
    await connect(service, { app: foreign, person });
    await joinOrganization(person);
    await remove(person);
    const token = await mailbox.tokenFor(person.email, 'cancel-deletion');
    service.clock.advanceMs(7 * DAY_MS + 60_000);
    await waitFor(async () => (await accountOf(person)) === undefined, WAIT);
    expect(codeOf(await cancel(token))).toEqual([400, 'token_invalid']);
    expect((await deletionFactsOf(person)).at(-1)).toEqual(['auth.account.erased.v1', 2]);
    const subjects = (await service.outbox(`app:${app.clientId}`)).map(({ subject }) => subject);
    expect(subjects.at(-1)).toBe('auth.app.deleted.v1');
    expect(await tablesThatName([person.email, person.userId])).toEqual(['audit_log', 'erased_accounts', 'outbox']);
    const payloads = JSON.stringify(await service.database('outbox').select('payload'));
    expect(payloads).not.toContain(person.email);
    expect(service.logs()).not.toContain(person.email);
    const again = { email: person.email, password: PASSWORD, account_type: 'personal' };
    expect((await call(`${service.url}/v1/console/accounts`, { json: again })).status).toBe(201);
  });

  test('follows at once without a mail if ERASURE_DELAY_DAYS is 0', async () => {
    const hasty = await startAuthService({ MAIL_URL: mailbox.url, ERASURE_DELAY_DAYS: '0' });
    try {
      const person = await newPerson(hasty);
      const json = { password: PASSWORD };
      const answer = await call(`${hasty.url}/v1/console/account`, { method: 'DELETE', token: person.token, json });
      expect(answer.status).toBe(202);
      const rows = hasty.database('accounts').where({ id: person.userId });
      await waitFor(async () => (await rows.clone()).length === 0, WAIT);
      expect(mailbox.mailsTo(person.email)).toEqual([]);
    } finally {
      await hasty.stop();
    }
  });
});

/** Makes a person a member of an organization by a mailed invitation. */
const joinOrganization = async ({ email, token }: { email: string; token: string }): Promise<void> => {
  const inviter = await newPerson(service, 'business');
  const url = `${service.url}/v1/console/organization/invitations`;
  await call(url, { token: inviter.token, json: { email, role: 'viewer' } });
  const accepted = { token, json: { token: await mailbox.tokenFor(email, 'invitations') } };
  expect((await call(`${url}/accept`, accepted)).status).toBe(200);
};

/** Lists the tables in which any of these texts stands in any column. */
const tablesThatName = async (texts: readonly string[]): Promise<string[]> => {
  const { database } = service;
  const tables: string[] = await database('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
  const named: string[] = [];
  for (const table of tables.toSorted()) {
    const where = texts.map(() => 'position(? in t::text) > 0').join(' OR ');
    if (
      (await database(`${table} as t`)
        .whereRaw(where, [...texts])
        .first(database.raw('1'))) !== undefined
    )
      named.push(table);
  }
  return named;
};
