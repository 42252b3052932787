import { appOperations, newId } from '@svc/contracts';
import type { InternalClient } from '@svc/service-kit';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { tidyUpOf } from './support/background-work.ts';
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
const close = async ({ clientId: client_id }: RegisteredApp) =>
  (await operator.call(appOperations.closeAppReports, { params: { client_id } })).body.closed;
const appsWaiting = async (): Promise<number> => {
  const metrics = await (await fetch(`${service.internalUrl}/metrics`)).text();
  return Number(/^auth_reported_apps_waiting\{.*\} (\d+)$/m.exec(metrics)?.[1]);
};
const suspend = async ({ clientId: client_id }: RegisteredApp) =>
  (await operator.call(appOperations.suspendApp, { params: { client_id } })).body;
const resume = async ({ clientId: client_id }: RegisteredApp) =>
  (await operator.call(appOperations.resumeApp, { params: { client_id } })).body;
const activate = (app: RegisteredApp, { token }: Person, json: object = { active: true }): Promise<Answer> =>
  call(`${service.url}/v1/integrations/apps/${app.clientId}`, { method: 'PATCH', token, json });
const factsOf = async ({ clientId }: RegisteredApp) =>
  (await service.outbox(`app:${clientId}`)).map(({ subject, version }) => `${subject} ${version}`);

describe('a report', () => {
  test('counts once per day, user and app, and operators see it with its comment', async () => {
    const owner = await newPerson(service, 'business');
    const app = await newApp(service, owner, { name: 'Your Bank' });
    const first = await newPerson(service);
    const second = await newPerson(service);
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
        closed_at: null,
      },
      {
        svc_user_id: second.userId,
        reason: 'other',
        comment: null,
        reported_at: expect.any(String),
        closed_at: null,
      },
    ]);
    expect(await reportedApps()).toContainEqual({
      client_id: app.clientId,
      name: 'Your Bank',
      owner_user_id: owner.userId,
      active: true,
      suspended_at: null,
      deleted: false,
      open: 2,
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

  test('is deleted with the user’s account, and after 400 days', async () => {
    const app = await newApp(service, await newPerson(service, 'business'));
    const leaving = await newPerson(service);
    const staying = await newPerson(service);
    for (const person of [leaving, staying]) await report(app.clientId, person, { reason: 'misuse' });
    await service.database('accounts').where({ id: leaving.userId }).delete();
    expect((await reportsOf(app)).map(({ svc_user_id }) => svc_user_id)).toEqual([staying.userId]);
    const clock = () => new Date(service.clock().getTime() + 401 * DAY_MS);
    await tidyUpOf(service, clock);
    expect(await reportsOf(app)).toEqual([]);
  });
});

describe('reports of a deleted app', () => {
  test('stay visible to operators, under the app’s last name and owner', async () => {
    const owner = await newPerson(service, 'business');
    const app = await newApp(service, owner, { name: 'Your Bank' });
    const person = await newPerson(service);
    await report(app.clientId, person, { reason: 'impersonation', comment: 'not my bank' });
    const removed = await call(`${service.url}/v1/integrations/apps/${app.clientId}`, {
      method: 'DELETE',
      token: owner.token,
    });
    expect(removed.status).toBe(204);
    const isGone = async () =>
      (await service.database('apps').where({ client_id: app.clientId }).first()) === undefined;
    await waitFor(isGone, WAIT);
    expect(await reportsOf(app)).toMatchObject([{ svc_user_id: person.userId, comment: 'not my bank' }]);
    expect(await reportedApps()).toContainEqual({
      client_id: app.clientId,
      name: 'Your Bank',
      owner_user_id: owner.userId,
      active: false,
      suspended_at: null,
      deleted: true,
      open: 1,
      reporters: 1,
      reasons: { impersonation: 1 },
      last_reported_at: expect.any(String),
    });
    await service.database('accounts').where({ id: person.userId }).delete();
    await expect(reportsOf(app)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('open reports', () => {
  test('count per app for the alert until an operator closes them or suspends the app', async () => {
    const owner = await newPerson(service, 'business');
    const closed = await newApp(service, owner);
    const suspended = await newApp(service, owner);
    for (const { clientId } of [closed, closed, suspended]) {
      await report(clientId, await newPerson(service), { reason: 'spam' });
    }
    const before = await appsWaiting();
    expect(await close(closed)).toBe(2);
    expect(await close(closed)).toBe(0);
    expect(await appsWaiting()).toBe(before - 1);
    await suspend(suspended);
    expect(await appsWaiting()).toBe(before - 2);
    expect((await reportsOf(suspended)).map(({ closed_at }) => closed_at)).toEqual([expect.any(String)]);

    await report(closed.clientId, await newPerson(service), { reason: 'spam' });
    expect(await appsWaiting()).toBe(before - 1);
    expect(await reportedApps()).toContainEqual(
      expect.objectContaining({ client_id: closed.clientId, open: 1, reporters: 3 }),
    );
  });

  test('put each reading by an operator into the audit log, with the operator’s name and the app’s id', async () => {
    const app = await newApp(service, await newPerson(service, 'business'));
    await report(app.clientId, await newPerson(service), { reason: 'spam', comment: 'words of a user' });
    await reportsOf(app);
    await reportedApps();
    const audited = service
      .logs()
      .split('\n')
      .filter((line) => line.includes('"operator:ada"'));
    expect(audited.some((line) => line.includes('"listAppReports"') && line.includes(app.clientId))).toBe(true);
    expect(audited.some((line) => line.includes('"listReportedApps"'))).toBe(true);
    expect(service.logs()).not.toContain('words of a user');
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

  test('marks an inactive app without a second fact, and returns not_found for an unknown one', async () => {
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
