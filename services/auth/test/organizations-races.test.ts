import type { Role } from '@svc/contracts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService, startReplica } from './support/auth-service.ts';
import { type Answer, call } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import {
  accept,
  addFactor,
  type Holders,
  type Member,
  newMember,
  organizationPath,
  startHolders,
  switchTo,
} from './support/organization.ts';
import { newPerson, PASSWORD, type Person } from './support/partner.ts';

/** Two replicas change one organization at once. In every order of the changes these rules hold afterwards. */

const ROUNDS = 4;

let service: AuthService;
let replica: Awaited<ReturnType<typeof startReplica>>;
let holders: Holders;
let mailbox: Mailbox;

beforeAll(async () => {
  [holders, mailbox] = await Promise.all([startHolders(), startMailbox()]);
  service = await startAuthService({ ...holders.environment, MAIL_URL: mailbox.url });
  replica = await startReplica(service);
});
afterAll(async () => {
  await replica?.stop();
  await service?.stop();
  await holders?.stop();
  await mailbox?.stop();
});

const change = (at: { url: string }, token: string, member: Person, role: Role | 'removed'): Promise<Answer> => {
  const path = organizationPath(at, `/members/${member.userId}`);
  return role === 'removed'
    ? call(path, { method: 'DELETE', token })
    : call(path, { method: 'PATCH', token, json: { role } });
};
const sessionsThatActFor = (organization: Person, member: Person) =>
  service.database('console_sessions').where({ organization_id: organization.userId, user_id: member.userId });

test('an organization keeps an owner while its owners remove each other, step down, leave and are erased', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const founder = await newPerson(service, 'business');
    const owners: Member[] = [];
    for (let n = 0; n < 4; n += 1)
      owners.push(await newMember(service, mailbox, { organization: founder, role: 'owner' }));
    const [one, two, three, four] = owners as [Member, Member, Member, Member];
    const answers = await Promise.all([
      change(service, founder.token, founder, 'viewer'),
      change(replica, one.acting, two, 'removed'),
      change(service, two.acting, one, 'removed'),
      change(replica, three.acting, three, 'removed'),
      change(service, four.acting, four, 'admin'),
      change(replica, two.acting, three, 'viewer'),
      call(`${service.url}/v1/console/account`, { method: 'DELETE', token: one.token, json: { password: PASSWORD } }),
    ]);
    const rows = await service.database('memberships').where({ organization_id: founder.userId, role: 'owner' });
    expect(rows.length).toBeGreaterThan(0);
    for (const { status } of answers) expect([200, 202, 204, 401, 403, 404, 409]).toContain(status);
    const changed = answers.filter(({ status }) => status === 200 || status === 204);
    const acts = await service.database('audit_log').whereIn('action', ['member.removed', 'member.role_changed']);
    const own = acts.filter(({ organization_id }) => organization_id === founder.userId);
    expect(own).toHaveLength(changed.length);
  }
}, 60_000);

test('a removed member has no session that acts for the organization, however it switches meanwhile', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const organization = await newPerson(service, 'business');
    const member = await newMember(service, mailbox, { organization, role: 'viewer' });
    const switches = Array.from({ length: 6 }, (_, n) =>
      switchTo(n % 2 === 0 ? service : replica, member.token, organization.userId),
    );
    const [removed, ...switched] = await Promise.all([
      change(replica, organization.token, member, 'removed'),
      ...switches,
    ]);
    expect(removed.status).toBe(204);
    for (const { status } of switched) expect([201, 404]).toContain(status);
    expect(await sessionsThatActFor(organization, member)).toEqual([]);
  }
}, 60_000);

test('no member acts without the required second factor, however factors and the rule change meanwhile', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const organization = await newPerson(service, 'business');
    await addFactor(service, organization.token);
    const member = await newMember(service, mailbox, { organization, role: 'viewer' });
    const factorId = await addFactor(service, member.token);
    const json = { second_factor_required: true };
    const answers = await Promise.all([
      call(organizationPath(replica, '/settings'), { method: 'PUT', token: organization.token, json }),
      call(`${service.url}/v1/console/account/factors/${factorId}`, { method: 'DELETE', token: member.token }),
      switchTo(service, member.token, organization.userId),
      switchTo(replica, member.token, organization.userId),
    ]);
    expect(answers.map(({ status }) => status).slice(0, 2)).toEqual([200, 204]);
    expect(await sessionsThatActFor(organization, member)).toEqual([]);
  }
}, 60_000);

test('of parallel invitations of one address one link works', async () => {
  const organization = await newPerson(service, 'business');
  const person = await newPerson(service);
  const json = { email: person.email, role: 'viewer' };
  const invite = (at: { url: string }) =>
    call(organizationPath(at, '/invitations'), { token: organization.token, json });
  const answers = await Promise.all([service, replica, service, replica].map(invite));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(await service.database('invitations').where({ email: person.email })).toHaveLength(1);
  const links = () =>
    mailbox.mailsTo(person.email).flatMap((mail) => mail.links.filter((link) => link.includes('/invitations?')));
  await expect.poll(() => links().length, { timeout: 20_000 }).toBe(4);
  const tokens = links().map((link) => new URL(link).searchParams.get('token') ?? '');
  const statuses: number[] = [];
  for (const token of new Set(tokens)) statuses.push((await accept(service, person, token)).status);
  expect(statuses.toSorted()).toEqual([200, 400, 400, 400]);
});

test('an organization has at most a thousand members, those invited included', async () => {
  const organization = await newPerson(service, 'business');
  await service.database.raw(
    `INSERT INTO accounts (id, email, account_type, locale, created_at)
     SELECT 'usr_crowd' || n, 'crowd' || n || '@example.com', 'personal', 'en', now() FROM generate_series(1, 998) n`,
  );
  await service.database.raw(
    `INSERT INTO memberships (id, organization_id, user_id, role, joined_at)
     SELECT 'mem_crowd' || n, ?, 'usr_crowd' || n, 'viewer', now() FROM generate_series(1, 998) n`,
    [organization.userId],
  );
  const invite = (email: string) =>
    call(organizationPath(service, '/invitations'), { token: organization.token, json: { email, role: 'viewer' } });
  const last = newEmail();
  expect((await invite(last)).status).toBe(201);
  expect((await invite(last)).status).toBe(201);
  expect((await invite(newEmail())).status).toBe(422);
});
