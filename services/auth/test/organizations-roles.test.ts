import { isRoleEnough, leastRole, type Role, type RoleNeed, roles, routesOf } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import {
  accept,
  type Holders,
  inviteTo,
  type Member,
  newMember,
  type Organization,
  organizationPath,
  startHolders,
  switchTo,
} from './support/organization.ts';
import { claimsOf, newPerson, PASSWORD } from './support/partner.ts';

const DAY_MS = 24 * 3_600_000;

let service: AuthService;
let holders: Holders;
let mailbox: Mailbox;
let organization: Organization;
let members: Record<Role, Member>;

beforeAll(async () => {
  [holders, mailbox] = await Promise.all([startHolders(), startMailbox()]);
  service = await startAuthService({ ...holders.environment, MAIL_URL: mailbox.url });
  organization = await newPerson(service, 'business');
  const entries: [Role, Member][] = [];
  for (const role of roles) entries.push([role, await newMember(service, mailbox, { organization, role })]);
  // Every role has its entry.
  members = Object.fromEntries(entries) as Record<Role, Member>;
}, 60_000);
afterAll(async () => {
  await service?.stop();
  await holders?.stop();
  await mailbox?.stop();
});

const errorOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];
const ofMember = ({ userId }: { userId: string }) => organizationPath(service, `/members/${userId}`);
const setRole = (token: string, member: { userId: string }, role: Role): Promise<Answer> =>
  call(ofMember(member), { method: 'PATCH', token, json: { role } });
const remove = (token: string, member: { userId: string }): Promise<Answer> =>
  call(ofMember(member), { method: 'DELETE', token });
const list = (token: string): Promise<Answer> => call(organizationPath(service, '/members'), { token });
const invitations = (token: string): Promise<Answer> => call(organizationPath(service, '/invitations'), { token });

/** Roles that the handler of a route needs of callers who name another person, beyond its contract. */
const NEEDS_OF_HANDLERS: Readonly<Record<string, RoleNeed>> = { removeMember: 'admin' };
/** They end the session that the other rows need. */
const LAST = ['deleteOtherSessions', 'deleteSession'];

const consoleRoutes = routesOf('auth')
  .filter(({ role }) => role !== undefined)
  .toSorted((one, other) => LAST.indexOf(one.operationId) - LAST.indexOf(other.operationId));

describe('every console route', () => {
  test.each(roles)('allows a member with the role %s what the contract says, and no more', async (role) => {
    const wrong: unknown[] = [];
    const { acting: token } = await newMember(service, mailbox, { organization, role });
    for (const { operationId, method, path, role: need = 'person' } of consoleRoutes) {
      const answer = await call(`${service.url}${path.replaceAll(/\{\w+\}/g, 'app_x')}`, { method, token });
      const needed = NEEDS_OF_HANDLERS[operationId] ?? need;
      const isRefused = answer.status === 403 && answer.text.includes('role_not_allowed');
      const names = isRefused ? textAt(answer, 'detail', 'required_role') : undefined;
      const expected = isRoleEnough(role, needed) ? undefined : leastRole(needed);
      if (names !== expected || [401, 500, 501].includes(answer.status)) wrong.push([operationId, answer.text]);
    }
    expect(wrong).toEqual([]);
  });

  test('is closed to strangers: they can neither switch nor name members', async () => {
    for (const stranger of [await newPerson(service), await newPerson(service, 'business')]) {
      expect(errorOf(await switchTo(service, stranger.token, organization.userId))).toEqual([404, 'not_found']);
      const answer = await remove(stranger.token, members.viewer);
      expect([403, 404]).toContain(answer.status);
    }
    expect(errorOf(await switchTo(service, members.viewer.token, members.admin.userId))).toEqual([404, 'not_found']);
    expect((await list(members.owner.acting)).text).toContain(members.viewer.userId);
  });

  test('takes 401 from a token that names a role that its person does not have', async () => {
    const [header, , signature] = members.viewer.acting.split('.');
    const claims = claimsOf(members.viewer.acting);
    const forged = { ...claims, org: { ...Object(claims['org']), role: 'owner' } };
    const token = [header, Buffer.from(JSON.stringify(forged)).toString('base64url'), signature].join('.');
    expect((await list(token)).status).toBe(401);
  });
});

describe('a changed role', () => {
  test('holds at once in tokens already issued, and is published for the other services', async () => {
    const member = await newMember(service, mailbox, { organization, role: 'viewer' });
    expect(claimsOf(member.acting)['org']).toMatchObject({ id: organization.userId, role: 'viewer', version: 1 });
    expect(errorOf(await invitations(member.acting))).toEqual([403, 'role_not_allowed']);
    expect((await setRole(organization.token, member, 'admin')).body).toMatchObject({ role: 'admin' });
    expect((await invitations(member.acting)).status).toBe(200);
    expect((await setRole(organization.token, member, 'billing')).status).toBe(200);
    expect(errorOf(await invitations(member.acting))).toEqual([403, 'role_not_allowed']);
    const { id } = await service.database('memberships').where({ user_id: member.userId }).first();
    const published = await service.outbox(`revocation:member.${id}`);
    expect(published.map(({ payload }) => payload)).toEqual([
      { revoked_through: '0000000001' },
      { revoked_through: '0000000002' },
    ]);
    const renewed = await switchTo(service, member.token, organization.userId);
    expect(claimsOf(textAt(renewed, 'session_token'))['org']).toMatchObject({ role: 'billing', version: 3 });
  });

  test('needs an owner where owners are made or changed', async () => {
    const admin = members.admin.acting;
    const wants = { status: 403, required_role: 'owner' };
    for (const answer of [
      await setRole(admin, members.viewer, 'owner'),
      await setRole(admin, members.owner, 'viewer'),
      await remove(admin, members.owner),
      await call(organizationPath(service, '/invitations'), { token: admin, json: { email: 'a@b.co', role: 'owner' } }),
    ]) {
      expect({ status: answer.status, required_role: textAt(answer, 'detail', 'required_role') }).toEqual(wants);
    }
    expect(errorOf(await setRole(admin, { userId: 'usr_x' }, 'viewer'))).toEqual([404, 'not_found']);
  });

  test.each(['viewer', 'billing', 'developer', 'admin'] as const)(
    'names the owner as the least role that makes, invites or removes owners to a member with the role %s',
    async (role) => {
      const token = members[role].acting;
      for (const answer of [
        await setRole(token, members.viewer, 'owner'),
        await remove(token, members.owner),
        await call(organizationPath(service, '/invitations'), { token, json: { email: 'a@b.co', role: 'owner' } }),
      ]) {
        expect([...errorOf(answer), textAt(answer, 'detail', 'required_role')]).toEqual([
          403,
          'role_not_allowed',
          'owner',
        ]);
      }
    },
  );

  test('holds for the account that opened the organization too', async () => {
    const founder = await newPerson(service, 'business');
    const other = await newMember(service, mailbox, { organization: founder, role: 'owner' });
    expect((await setRole(other.acting, founder, 'viewer')).status).toBe(200);
    expect(errorOf(await invitations(founder.token))).toEqual([403, 'role_not_allowed']);
    const rename = { method: 'PATCH', token: founder.token, json: { business_name: 'Mine' } };
    expect(errorOf(await call(`${service.url}/v1/console/account`, rename))).toEqual([403, 'role_not_allowed']);
    expect((await remove(other.acting, founder)).status).toBe(204);
    expect((await list(founder.token)).status).toBe(401);
    const credentials = { email: founder.email, password: 'a long enough passphrase' };
    const signIn = await call(`${service.url}/v1/console/sessions`, { json: credentials });
    expect(errorOf(signIn)).toEqual([401, 'invalid_credentials']);
  });
});

describe('the last owner', () => {
  test('can neither step down, be removed nor leave', async () => {
    const founder = await newPerson(service, 'business');
    const admin = await newMember(service, mailbox, { organization: founder, role: 'admin' });
    expect(errorOf(await setRole(founder.token, founder, 'admin'))).toEqual([409, 'last_owner']);
    expect(errorOf(await remove(founder.token, founder))).toEqual([409, 'last_owner']);
    expect((await remove(admin.acting, founder)).status).toBe(403);
  });

  test.each(['step down', 'leave', 'delete their accounts'])('stays when all owners %s at once', async (how) => {
    const founder = await newPerson(service, 'business');
    const others: Member[] = [];
    for (let n = 0; n < 3; n += 1)
      others.push(await newMember(service, mailbox, { organization: founder, role: 'owner' }));
    expect((await setRole(founder.token, founder, 'admin')).status).toBe(200);
    const acts = {
      'step down': (owner: Member) => setRole(owner.acting, owner, 'viewer'),
      leave: (owner: Member) => remove(owner.acting, owner),
      'delete their accounts': ({ token }: Member) =>
        call(`${service.url}/v1/console/account`, {
          method: 'DELETE',
          token,
          json: { password: 'a long enough passphrase' },
        }),
    };
    const act = acts[how as keyof typeof acts];
    const answers = await Promise.all(others.map((owner) => act(owner)));
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused.map(errorOf)).toEqual([[409, 'last_owner']]);
    const owners = await service.database('memberships').where({ organization_id: founder.userId, role: 'owner' });
    expect(owners).toHaveLength(1);
  });
});

describe('a removed member', () => {
  test('loses the tokens that act for the organization, and keeps the own session', async () => {
    const member = await newMember(service, mailbox, { organization, role: 'developer' });
    const { id } = await service.database('memberships').where({ user_id: member.userId }).first();
    const { sid } = claimsOf(member.acting);
    expect((await remove(members.admin.acting, member)).status).toBe(204);
    expect((await list(member.acting)).status).toBe(401);
    expect((await call(`${service.url}/v1/console/session`, { token: member.token })).status).toBe(200);
    expect(errorOf(await switchTo(service, member.token, organization.userId))).toEqual([404, 'not_found']);
    expect(await service.outbox(`revocation:session.${sid}`)).toHaveLength(1);
    expect(await service.outbox(`revocation:member.${id}`)).toHaveLength(1);
    expect(await service.outbox(`membership:${id}`)).toMatchObject([
      {
        subject: 'auth.member.removed.v1',
        payload: { organization_id: organization.userId, membership_id: id, svc_user_id: member.userId },
      },
    ]);
  });

  test('may join again, as another membership', async () => {
    const member = await newMember(service, mailbox, { organization, role: 'viewer' });
    expect((await remove(member.acting, member)).status).toBe(204);
    const link = await inviteTo(service, mailbox, { token: organization.token, email: member.email, role: 'billing' });
    expect((await accept(service, member, link)).status).toBe(200);
    const switched = await switchTo(service, member.token, organization.userId);
    expect(switched.body).toMatchObject({ account: { organization: { role: 'billing' } } });
  });

  test('is what a person becomes whose account is deleted', async () => {
    const member = await newMember(service, mailbox, { organization, role: 'viewer' });
    const json = { password: 'a long enough passphrase' };
    const { status } = await call(`${service.url}/v1/console/account`, { method: 'DELETE', token: member.token, json });
    expect(status).toBe(202);
    expect((await list(member.acting)).status).toBe(401);
    expect((await list(organization.token)).text).not.toContain(member.userId);
    const log = await call(organizationPath(service, `/audit?actor=${member.userId}`), { token: organization.token });
    expect(log.body).toMatchObject({
      data: [
        { action: 'member.removed', target: { type: 'member', id: member.userId }, source: 'console' },
        { action: 'invitation.accepted' },
      ],
    });
  });
});

describe('the own sign-in of an organization', () => {
  const confirm = (token: string) =>
    call(`${service.url}/v1/console/password-resets/confirm`, { json: { token, password: 'yet another passphrase' } });
  const requestReset = (email: string) => call(`${service.url}/v1/console/password-resets`, { json: { email } });
  const found = async () => {
    const founder = await newPerson(service, 'business');
    await service.database('accounts').where({ id: founder.userId }).update({ email_verified_at: new Date() });
    const owner = await newMember(service, mailbox, { organization: founder, role: 'owner' });
    const url = `${service.url}/v1/console/management-keys`;
    const created = await call(url, { token: owner.acting, json: { name: 'CI', scopes: ['apps:read'] } });
    const useKey = () => call(`${service.url}/v1/integrations/apps`, { token: textAt(created, 'key') });
    return { founder, owner, useKey };
  };

  test('resets its password below admin without ending the keys of the organization', async () => {
    const { founder, owner, useKey } = await found();
    expect((await setRole(owner.acting, founder, 'viewer')).status).toBe(200);
    await requestReset(founder.email);
    expect((await confirm(await mailbox.tokenFor(founder.email, 'reset-password'))).status).toBe(204);
    expect((await useKey()).status).toBe(200);
    expect(await service.outbox(`revocation:keys.${founder.userId}`)).toEqual([]);
  });

  test('cannot reset its password once it is no member: no mail, and a mailed link is void', async () => {
    const { founder, owner, useKey } = await found();
    await requestReset(founder.email);
    const token = await mailbox.tokenFor(founder.email, 'reset-password');
    expect((await remove(owner.acting, founder)).status).toBe(204);
    expect(errorOf(await confirm(token))).toEqual([400, 'token_invalid']);
    expect((await requestReset(founder.email)).status).toBe(202);
    const waiting = async () => (await service.database('password_reset_requests')).length;
    await waitFor(async () => (await waiting()) === 0);
    expect(await service.database('mailed_tokens').where({ user_id: founder.userId })).toEqual([]);
    expect((await useKey()).status).toBe(200);
  });

  // Last: they move the clock.
  test.each([
    ['become an owner again if it was demoted within the day before', 0, 'owner'],
    ['not become an owner again if it was demoted more than a day before', 2 * DAY_MS, 'viewer'],
  ])('by undoing a change of its address can %s', async (_can, passedMs, role) => {
    const { founder, owner, useKey } = await found();
    expect((await setRole(owner.acting, founder, 'viewer')).status).toBe(200);
    service.clock.advanceMs(passedMs);
    const signIn = await call(`${service.url}/v1/console/sessions`, {
      json: { email: founder.email, password: PASSWORD },
    });
    const token = textAt(signIn, 'session_token');
    const account = (path: string, json: object) => call(`${service.url}/v1/console/account${path}`, { token, json });
    const email = `moved-${founder.email}`;
    expect((await account('/email', { email, current_password: PASSWORD })).status).toBe(202);
    await account('/email/confirm', { token: await mailbox.tokenFor(email, 'confirm-email') });
    const undo = await mailbox.tokenFor(founder.email, 'undo-email');
    expect((await account('/email/undo', { token: undo })).status).toBe(200);
    const stored = await service.database('memberships').where({ organization_id: founder.userId }).pluck('role');
    expect(stored.toSorted()).toEqual(role === 'owner' ? ['owner'] : ['owner', 'viewer']);
    expect((await useKey()).status).toBe(role === 'owner' ? 401 : 200);
  });
});
