import { newId } from '@svc/contracts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, newEmail, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import {
  accept,
  addFactor,
  type Holders,
  inviteTo,
  newMember,
  organizationPath,
  startHolders,
  switchTo,
} from './support/organization.ts';
import { claimsOf, newApp, newPerson, PASSWORD, type Person } from './support/partner.ts';

const DAY_MS = 86_400_000;

let service: AuthService;
let holders: Holders;
let mailbox: Mailbox;

beforeAll(async () => {
  [holders, mailbox] = await Promise.all([startHolders(), startMailbox()]);
  service = await startAuthService({ ...holders.environment, MAIL_URL: mailbox.url, EMAIL_VERIFICATION: 'optional' });
});
afterAll(async () => {
  await service?.stop();
  await holders?.stop();
  await mailbox?.stop();
});

const errorOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];
const sessionOf = (token: string) => call(`${service.url}/v1/console/session`, { token });
const statusOf = async (token: string) => (await sessionOf(token)).status;
const appsOf = (token: string) => call(`${service.url}/v1/integrations/apps`, { token });
const membersOf = (token: string) => call(organizationPath(service, '/members'), { token });
const signIn = async (person: Person) =>
  textAt(
    await call(`${service.url}/v1/console/sessions`, { json: { email: person.email, password: PASSWORD } }),
    'session_token',
  );
const setRule = (token: string, isRequired: boolean) =>
  call(organizationPath(service, '/settings'), { method: 'PUT', token, json: { second_factor_required: isRequired } });

describe('acting for an organization', () => {
  test('shows its apps and name with the switched token, and the own account with the first one', async () => {
    const founder = await newPerson(service, 'business');
    const app = await newApp(service, founder);
    const member = await newMember(service, mailbox, { organization: founder, role: 'developer' });
    const organization = { id: founder.userId, name: 'Acme', role: 'developer' };
    expect((await appsOf(member.acting)).body).toMatchObject({ data: [{ client_id: app.clientId }] });
    expect((await appsOf(member.token)).status).toBe(403);
    const account = { svc_user_id: member.userId, email: member.email, account_type: 'personal' };
    expect((await sessionOf(member.acting)).body).toMatchObject({ account: { ...account, organization } });
    expect((await sessionOf(member.token)).body).toMatchObject({ account: { ...account, organization: null } });
    const listed = await call(`${service.url}/v1/console/organizations`, { token: member.token });
    expect(listed.body).toEqual({ data: [organization] });
    expect(claimsOf(member.acting)).toMatchObject({ sub: member.userId, account_type: 'business' });
    const back = await switchTo(service, member.acting, null);
    expect(back.body).toMatchObject({ account: { organization: null } });
    expect(claimsOf(textAt(back, 'session_token'))['org']).toBeUndefined();
  });

  test('changes nothing for a business that signs in, which is the owner of itself', async () => {
    const founder = await newPerson(service, 'business');
    const organization = { id: founder.userId, name: 'Acme', role: 'owner' };
    expect((await sessionOf(founder.token)).body).toMatchObject({ account: { organization } });
    expect(claimsOf(founder.token)['org']).toMatchObject({ id: founder.userId, role: 'owner' });
    expect((await switchTo(service, founder.token, founder.userId)).body).toMatchObject({ account: { organization } });
    const other = await newPerson(service, 'business');
    const link = await inviteTo(service, mailbox, { token: other.token, email: founder.email, role: 'viewer' });
    expect((await accept(service, founder, link)).status).toBe(200);
    const acting = await switchTo(service, founder.token, other.userId);
    expect(acting.body).toMatchObject({ account: { organization: { id: other.userId, role: 'viewer' } } });
  });

  test('ends no later than the sign-in, and survives step-up and a reload', async () => {
    const founder = await newPerson(service, 'business');
    const member = await newMember(service, mailbox, { organization: founder, role: 'admin' });
    const [own, acting] = await service.database('console_sessions').where({ user_id: member.userId }).orderBy('id');
    expect([acting.expires_at, acting.authenticated_at]).toEqual([own.expires_at, own.authenticated_at]);
    const proof = { token: member.acting, json: { password: PASSWORD } };
    const proven = await call(`${service.url}/v1/console/session/reauthenticate`, proof);
    expect(claimsOf(textAt(proven, 'session_token'))['org']).toMatchObject({ id: founder.userId, role: 'admin' });
    const resumed = await call(`${service.url}/v1/console/session/resume`, {
      method: 'POST',
      headers: { cookie: `svc_console=${member.acting}`, origin: service.url },
    });
    expect(resumed.body).toMatchObject({ account: { organization: { id: founder.userId, role: 'admin' } } });
  });

  test('is part of the sign-in: listed with it, and ended with it', async () => {
    const founder = await newPerson(service, 'business');
    const member = await newMember(service, mailbox, { organization: founder, role: 'viewer' });
    const actAgain = async (token: string) => textAt(await switchTo(service, token, founder.userId), 'session_token');
    const second = await actAgain(member.acting);
    const listed = await call(`${service.url}/v1/console/sessions`, { token: second });
    expect(listed.body).toEqual({
      data: [expect.objectContaining({ id: claimsOf(member.token)['sid'], is_current: true })],
    });
    const others = await signIn(member);
    const elsewhere = await actAgain(others);
    await call(`${service.url}/v1/console/sessions`, { method: 'DELETE', token: second });
    const tokens = [member.token, member.acting, second, others, elsewhere];
    expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200, 200, 401, 401]);
    const end = { method: 'DELETE', token: second };
    expect((await call(`${service.url}/v1/console/session`, end)).status).toBe(204);
    expect(await Promise.all([statusOf(second), statusOf(member.token)])).toEqual([401, 200]);
    await call(`${service.url}/v1/console/sessions/${claimsOf(member.token)['sid']}`, {
      method: 'DELETE',
      token: member.acting,
    });
    expect(await Promise.all([statusOf(member.acting), statusOf(member.token)])).toEqual([401, 401]);
    expect(await service.outbox(`revocation:session.${claimsOf(member.acting)['sid']}`)).toHaveLength(1);
  });

  test('signs the browser out too when one of its tabs signs out', async () => {
    const founder = await newPerson(service, 'business');
    const member = await newMember(service, mailbox, { organization: founder, role: 'viewer' });
    const headers = { cookie: `svc_console=${member.token}` };
    await call(`${service.url}/v1/console/session`, { method: 'DELETE', token: member.acting, headers });
    expect(await Promise.all([statusOf(member.acting), statusOf(member.token)])).toEqual([401, 401]);
  });

  test('ends when the person or the organization signs out everywhere', async () => {
    const founder = await newPerson(service, 'business');
    const one = await newMember(service, mailbox, { organization: founder, role: 'admin' });
    const two = await newMember(service, mailbox, { organization: founder, role: 'admin' });
    const change = { current_password: PASSWORD, new_password: 'another long passphrase' };
    const changed = await call(`${service.url}/v1/console/account/password`, { token: one.acting, json: change });
    expect(changed.body).toMatchObject({ account: { organization: { id: founder.userId } } });
    expect([await statusOf(one.acting), await statusOf(one.token), await statusOf(two.acting)]).toEqual([
      401, 401, 200,
    ]);
    await call(`${service.url}/v1/console/account/password`, { token: founder.token, json: change });
    expect([await statusOf(two.acting), await statusOf(two.token)]).toEqual([401, 200]);
    const [revoked] = await service.outbox(`revocation:account.${founder.userId}`);
    expect(String(revoked?.payload['revoked_through']) >= String(claimsOf(two.acting)['sid'])).toBe(true);
  });

  test('ends with the organization, which another owner may delete', async () => {
    const founder = await newPerson(service, 'business');
    const owner = await newMember(service, mailbox, { organization: founder, role: 'owner' });
    const admin = await newMember(service, mailbox, { organization: founder, role: 'admin' });
    const remove = (token: string) =>
      call(`${service.url}/v1/console/account`, { method: 'DELETE', token, json: { password: PASSWORD } });
    expect(errorOf(await remove(admin.acting))).toEqual([403, 'role_not_allowed']);
    expect((await remove(owner.acting)).status).toBe(202);
    expect([await statusOf(admin.acting), await statusOf(founder.token), await statusOf(owner.token)]).toEqual([
      401, 401, 200,
    ]);
    expect(errorOf(await switchTo(service, admin.token, founder.userId))).toEqual([404, 'not_found']);
    const listed = await call(`${service.url}/v1/console/organizations`, { token: owner.token });
    expect(listed.body).toEqual({ data: [] });
  });

  test('begins with the upgrade of a personal account', async () => {
    const person = await newPerson(service);
    const json = { business_name: 'Later' };
    const upgraded = await call(`${service.url}/v1/console/account/upgrade`, { token: person.token, json });
    const organization = { id: person.userId, name: 'Later', role: 'owner' };
    expect(upgraded.body).toMatchObject({ account: { organization } });
    expect((await membersOf(textAt(upgraded, 'session_token'))).body).toMatchObject({
      data: [{ svc_user_id: person.userId, role: 'owner' }],
    });
  });
});

describe('the members', () => {
  test('are listed in the order in which they joined, with their seats', async () => {
    const founder = await newPerson(service, 'business');
    const member = await newMember(service, mailbox, { organization: founder, role: 'billing' });
    holders.seats.set(member.userId, 'pro');
    const { body } = await membersOf(member.acting);
    expect(body).toEqual({
      data: [
        {
          svc_user_id: founder.userId,
          name: founder.email,
          email: founder.email,
          role: 'owner',
          has_second_factor: false,
          seat: null,
          joined_at: expect.any(String),
        },
        expect.objectContaining({ svc_user_id: member.userId, role: 'billing', seat: 'pro' }),
      ],
    });
  });

  test('are not listed, nor changed, without billing, which knows the seats', async () => {
    const founder = await newPerson(service, 'business');
    holders.down = '/seats';
    const path = organizationPath(service, `/members/${founder.userId}`);
    const change = await call(path, { method: 'PATCH', token: founder.token, json: { role: 'owner' } });
    const listed = await membersOf(founder.token);
    holders.down = undefined;
    expect([errorOf(listed), errorOf(change)]).toEqual([
      [503, 'service_unavailable'],
      [503, 'service_unavailable'],
    ]);
  });
});

describe('an invitation', () => {
  const invite = (token: string, email: string) =>
    call(organizationPath(service, '/invitations'), { token, json: { email, role: 'viewer' } });

  test('is mailed in the language of the person, works once and proves the address', async () => {
    const founder = await newPerson(service, 'business');
    const person = await newPerson(service);
    const link = await inviteTo(service, mailbox, { token: founder.token, email: person.email, role: 'viewer' });
    const [mail] = mailbox.mailsTo(person.email);
    expect(mail?.subject).toBe('Entra in Acme su svc');
    expect((await sessionOf(person.token)).body).toMatchObject({ account: { email_verified: false } });
    const accepted = await accept(service, person, link);
    expect(accepted.body).toEqual({ organization: { id: founder.userId, name: 'Acme', role: 'viewer' } });
    expect((await sessionOf(person.token)).body).toMatchObject({ account: { email_verified: true } });
    expect(errorOf(await accept(service, person, link))).toEqual([400, 'token_invalid']);
    expect(errorOf(await invite(founder.token, person.email.toUpperCase()))).toEqual([409, 'already_member']);
  });

  test('contains no link but ours, even if its names look like links', async () => {
    const founder = await newPerson(service, 'business');
    const person = await newPerson(service);
    const names = { business_name: 'Acme S.p.A. https://evil.example/a', display_name: 'www.evil.example' };
    expect(
      (await call(`${service.url}/v1/console/account`, { token: founder.token, method: 'PATCH', json: names })).status,
    ).toBe(200);
    await inviteTo(service, mailbox, { token: founder.token, email: person.email, role: 'viewer' });
    const mail = mailbox.mailsTo(person.email)[0];
    for (const part of [mail?.subject, mail?.text, mail?.html]) {
      expect(part).toContain('Acme S.p.A. ');
      expect(part).not.toMatch(/evil\.example|https:\/\/evil|www\.evil/);
    }
  });

  test('leaves a member the present role, and is used up', async () => {
    const founder = await newPerson(service, 'business');
    const person = await newPerson(service);
    const link = await inviteTo(service, mailbox, { token: founder.token, email: person.email, role: 'viewer' });
    const membership = { id: newId('mem'), role: 'billing', joined_at: new Date() };
    const key = { organization_id: founder.userId, user_id: person.userId };
    await service.database('memberships').insert({ ...membership, ...key });
    expect((await accept(service, person, link)).body).toMatchObject({ organization: { role: 'billing' } });
    expect(errorOf(await accept(service, person, link))).toEqual([400, 'token_invalid']);
    expect(await service.database('memberships').where(key)).toHaveLength(1);
  });

  test('is for its address only, and is not used up by another account', async () => {
    const founder = await newPerson(service, 'business');
    const person = await newPerson(service);
    const link = await inviteTo(service, mailbox, { token: founder.token, email: person.email, role: 'viewer' });
    expect(errorOf(await accept(service, await newPerson(service), link))).toEqual([403, 'invitation_for_another']);
    expect((await accept(service, person, link)).status).toBe(200);
  });

  test('makes one membership when its link is used many times at once', async () => {
    const founder = await newPerson(service, 'business');
    const person = await newPerson(service);
    const link = await inviteTo(service, mailbox, { token: founder.token, email: person.email, role: 'viewer' });
    const answers = await Promise.all(Array.from({ length: 10 }, () => accept(service, person, link)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(400)]);
    const memberships = await service.database('memberships').where({ user_id: person.userId });
    expect(memberships).toHaveLength(1);
    const acts = await service.database('audit_log').where({ action: 'invitation.accepted', actor_id: person.userId });
    expect(acts).toHaveLength(1);
  });

  test('ends when it is replaced, is withdrawn, expires, or its organization is deleted', async () => {
    const founder = await newPerson(service, 'business');
    const person = await newPerson(service);
    const input = { token: founder.token, email: person.email, role: 'viewer' } as const;
    const isVoid = async (link: string) =>
      expect(errorOf(await accept(service, person, link))).toEqual([400, 'token_invalid']);
    const replaced = await inviteTo(service, mailbox, input);
    const withdrawn = await inviteTo(service, mailbox, input);
    const path = organizationPath(service, '/invitations');
    const { body } = await call(path, { token: founder.token });
    expect(body).toEqual({
      data: [
        { id: expect.stringMatching(/^ivt_/), email: person.email, role: 'viewer', expires_at: expect.any(String) },
      ],
    });
    await isVoid(replaced);
    const id = textAt(await call(path, { token: founder.token }), 'data', 0, 'id');
    const stranger = await newPerson(service, 'business');
    const withdraw = (token: string) => call(`${path}/${id}`, { method: 'DELETE', token });
    expect(errorOf(await withdraw(stranger.token))).toEqual([404, 'not_found']);
    expect((await withdraw(founder.token)).status).toBe(204);
    expect(errorOf(await withdraw(founder.token))).toEqual([404, 'not_found']);
    await isVoid(withdrawn);
    const expired = await inviteTo(service, mailbox, input);
    await service
      .database('invitations')
      .where({ organization_id: founder.userId })
      .update({ expires_at: new Date(service.clock().getTime() - 1) });
    await isVoid(expired);
    const late = await inviteTo(service, mailbox, input);
    const json = { password: PASSWORD };
    await call(`${service.url}/v1/console/account`, { method: 'DELETE', token: founder.token, json });
    await isVoid(late);
  });

  test('lasts seven days, and an organization sends 50 an hour', async () => {
    const founder = await newPerson(service, 'business');
    const first = await invite(founder.token, newEmail());
    const lifeMs = new Date(textAt(first, 'expires_at')).getTime() - service.clock().getTime();
    expect(Math.round(lifeMs / DAY_MS)).toBe(7);
    for (let n = 1; n < 50; n += 1) expect((await invite(founder.token, newEmail())).status).toBe(201);
    const refused = await invite(founder.token, newEmail());
    expect(errorOf(refused)).toEqual([429, 'too_many_attempts']);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

const lossesOfAuthority = {
  'a removed member': { method: 'DELETE', expected: 204 },
  'an admin who becomes a developer': { method: 'PATCH', json: { role: 'developer' }, expected: 200 },
};

test.each(Object.entries(lossesOfAuthority))(
  '%s keeps no management key of the organization',
  async (_, { expected, ...change }) => {
    const founder = await newPerson(service, 'business');
    const admin = await newMember(service, mailbox, { organization: founder, role: 'admin' });
    const path = `${service.url}/v1/console/management-keys`;
    const json = { name: 'CI', scopes: ['apps:read'] };
    const own = await call(path, { method: 'POST', token: founder.token, json });
    const theirs = await call(path, { method: 'POST', token: admin.acting, json });
    const apps = (key: typeof own) => call(`${service.url}/v1/integrations/apps`, { token: textAt(key, 'key') });
    expect([(await apps(own)).status, (await apps(theirs)).status]).toEqual([200, 200]);
    const member = organizationPath(service, `/members/${admin.userId}`);
    const toOwner = await call(member, { method: 'PATCH', token: founder.token, json: { role: 'owner' } });
    expect([toOwner.status, (await apps(theirs)).status]).toEqual([200, 200]);
    expect((await call(member, { ...change, token: founder.token })).status).toBe(expected);
    expect([(await apps(own)).status, (await apps(theirs)).status]).toEqual([200, 401]);
    expect(await service.outbox(`revocation:management_key.${textAt(theirs, 'id')}`)).toHaveLength(1);
  },
);

describe('a required second factor', () => {
  test('keeps members without one from acting', async () => {
    const founder = await newPerson(service, 'business');
    const without = await newMember(service, mailbox, { organization: founder, role: 'admin' });
    const having = await newMember(service, mailbox, { organization: founder, role: 'viewer' });
    const factorId = await addFactor(service, having.token);
    const { sid } = claimsOf(without.acting);
    expect((await setRule(founder.token, true)).body).toEqual({ second_factor_required: true });
    expect((await call(organizationPath(service, '/settings'), { token: founder.token })).body).toEqual({
      second_factor_required: true,
    });
    const statuses = [without.acting, without.token, having.acting, founder.token].map(statusOf);
    expect(await Promise.all(statuses)).toEqual([401, 200, 200, 200]);
    expect(await service.outbox(`revocation:session.${sid}`)).toHaveLength(1);
    const refused = await switchTo(service, without.token, founder.userId);
    expect(errorOf(refused)).toEqual([403, 'organization_requires_second_factor']);
    await addFactor(service, without.token);
    expect((await switchTo(service, without.token, founder.userId)).status).toBe(201);
    const path = `${service.url}/v1/console/account/factors/${factorId}`;
    expect((await call(path, { method: 'DELETE', token: having.token })).status).toBe(204);
    expect([await statusOf(having.acting), await statusOf(having.token)]).toEqual([401, 200]);
    expect((await setRule(founder.token, false)).status).toBe(200);
    expect((await switchTo(service, having.token, founder.userId)).status).toBe(201);
  });

  test('leaves the sign-in of the organization itself as it is', async () => {
    const founder = await newPerson(service, 'business');
    const owner = await newMember(service, mailbox, { organization: founder, role: 'owner' });
    expect((await setRule(owner.acting, true)).status).toBe(200);
    expect([await statusOf(founder.token), await statusOf(owner.acting)]).toEqual([200, 401]);
    expect((await sessionOf(await signIn(founder))).body).toMatchObject({
      account: { organization: { role: 'owner' } },
    });
  });
});
