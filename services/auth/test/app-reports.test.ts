import { appOperations, newId } from '@svc/contracts';
import type { InternalClient } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tidyUp } from '../src/housekeeping.ts';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { openOperator } from './support/operator.ts';
import { connect, newApp, newPerson, type Person, type RegisteredApp, refresh } from './support/partner.ts';

const DAY_MS = 24 * 3_600_000;
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

const report = (clientId: string, { token }: Partial<Person>, json: object): Promise<Answer> =>
  call(`${service.url}/v1/integrations/apps/${clientId}/reports`, { token, json });
const reportsOf = async ({ clientId: client_id }: RegisteredApp) =>
  (await operator.call(appOperations.listAppReports, { params: { client_id } })).body.data;
const reportedApps = async () => (await operator.call(appOperations.listReportedApps, {})).body.data;
const suspend = async ({ clientId: client_id }: RegisteredApp) =>
  (await operator.call(appOperations.suspendApp, { params: { client_id } })).body;
const resume = async ({ clientId: client_id }: RegisteredApp) =>
  (await operator.call(appOperations.resumeApp, { params: { client_id } })).body;
const activate = (app: RegisteredApp, { token }: Person, json: object = { active: true }): Promise<Answer> =>
  call(`${service.url}/v1/integrations/apps/${app.clientId}`, { method: 'PATCH', token, json });
const factsOf = async ({ clientId }: RegisteredApp) =>
  (await service.outbox(`app:${clientId}`)).map(({ subject, version }) => `${subject} ${version}`);

describe('a report', () => {
  test('counts once a day for each user and app, and operators see it with its comment', async () => {
    const owner = await newPerson(service, 'business');
    const app = await newApp(service, owner, { name: 'Your Bank' });
    const [first, second] = [await newPerson(service), await newPerson(service)];
    const comment = '  It says that it is my bank.  ';
    expect((await report(app.clientId, first, { reason: 'impersonation', comment })).status).toBe(202);
    expect((await report(app.clientId, first, { reason: 'spam' })).status).toBe(202);
    expect((await report(app.clientId, second, { reason: 'other' })).status).toBe(202);
    expect((await reportsOf(app)).toReversed()).toEqual([
      {
        svc_user_id: first.userId,
        reason: 'impersonation',
        comment: comment.trim(),
        reported_at: expect.any(String),
      },
      { svc_user_id: second.userId, reason: 'other', comment: null, reported_at: expect.any(String) },
    ]);
    expect(await reportedApps()).toContainEqual({
      client_id: app.clientId,
      name: 'Your Bank',
      owner_user_id: owner.userId,
      active: true,
      suspended_at: null,
      reporters: 2,
      reasons: { impersonation: 1, other: 1 },
      last_reported_at: expect.any(String),
    });
  });

  test('is refused without a session, with an unknown reason or a long comment, and for an unknown app', async () => {
    const person = await newPerson(service);
    const { clientId } = await newApp(service, await newPerson(service, 'business'));
    const statuses = [
      await report(clientId, {}, { reason: 'spam' }),
      await report(clientId, person, { reason: 'dislike' }),
      await report(clientId, person, { reason: 'spam', comment: 'x'.repeat(501) }),
      await report(newId('app'), person, { reason: 'spam' }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([401, 422, 422, 404]);
  });

  test('goes with the account of the user, and after 400 days', async () => {
    const app = await newApp(service, await newPerson(service, 'business'));
    const [leaving, staying] = [await newPerson(service), await newPerson(service)];
    for (const person of [leaving, staying]) await report(app.clientId, person, { reason: 'misuse' });
    await service.database('accounts').where({ id: leaving.userId }).delete();
    expect((await reportsOf(app)).map(({ svc_user_id }) => svc_user_id)).toEqual([staying.userId]);
    const clock = () => new Date(service.clock().getTime() + 401 * DAY_MS);
    await tidyUp({ database: service.database, clock, logger: { error: () => undefined } as never });
    expect(await reportsOf(app)).toEqual([]);
  });
});

describe('a suspension by an operator', () => {
  test('ends the connections, mails the owner, and only an operator can lift it', async () => {
    const owner = await newPerson(service, 'business');
    const app = await newApp(service, owner, { name: 'Your Bank' });
    const person = await newPerson(service);
    const { refreshToken } = await connect(service, { app, person });
    const suspended = await suspend(app);
    expect(suspended).toMatchObject({ active: false, suspended_at: expect.any(String) });
    expect(await suspend(app)).toEqual(suspended);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(401);
    const standing = () =>
      service.database('connections').where({ client_id: app.clientId }).whereNull('ended_at').first();
    await waitFor(async () => (await standing()) === undefined, WAIT);
    await waitFor(() => mailbox.mailsTo(owner.email).some(({ text }) => text.includes('Your Bank')), WAIT);
    expect(mailbox.mailsTo(owner.email).filter(({ text }) => text.includes('Your Bank'))).toHaveLength(1);

    const refused = await activate(app, owner);
    expect([refused.status, textAt(refused, 'detail', 'code')]).toEqual([403, 'app_suspended']);
    expect((await activate(app, owner, { active: false, name: 'My Bank' })).status).toBe(200);
    expect(await resume(app)).toMatchObject({ active: false, suspended_at: null });
    expect((await activate(app, owner)).status).toBe(200);
    expect(await resume(app)).toMatchObject({ active: true, suspended_at: null });
    expect(await factsOf(app)).toEqual([
      'auth.app.registered.v1 1',
      'auth.app.suspended.v1 2',
      'auth.app.updated.v1 3',
      'auth.app.activated.v1 4',
    ]);
  });

  test('marks an inactive app without a second fact, and answers `not_found` for an unknown one', async () => {
    const owner = await newPerson(service, 'business');
    const app = await newApp(service, owner);
    await activate(app, owner, { active: false });
    await suspend(app);
    expect((await activate(app, owner)).status).toBe(403);
    expect(await factsOf(app)).toEqual(['auth.app.registered.v1 1', 'auth.app.suspended.v1 2']);
    const params = { client_id: newId('app') };
    for (const route of [appOperations.suspendApp, appOperations.resumeApp, appOperations.listAppReports] as const) {
      await expect(operator.call(route, { params })).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});
