import { expect, test } from 'vitest';
import { type Answer, call } from './support/api.ts';
import { fundKey, type Person, registerApp, signUp } from './support/people.ts';

const ORGANIZATION = '/v1/console/organization';
const QUESTION = { model: 'svc-chat', max_tokens: 20, messages: [{ role: 'user', content: 'Hello' }] };
/** A change of a role holds everywhere within this time. */
const SOON_MS = 1_000;

/** Reads the token of the newest mailed invitation. */
const mailedInvitation = async (person: Person): Promise<string> => {
  let token: string | undefined;
  await expect
    .poll(
      async () => {
        const mails = await call('GET', `/sandbox/mail/messages?to=${encodeURIComponent(person.email)}`);
        token = /invitations\?token=([\w-]+)/.exec(mails.text)?.[1];
        return token;
      },
      { timeout: 20_000 },
    )
    .toBeDefined();
  return token ?? '';
};

/** Invites a person, who accepts and switches. Returns the token that acts for the organization. */
const join = async (owner: Person, person: Person, role: string): Promise<string> => {
  const invited = await call('POST', `${ORGANIZATION}/invitations`, {
    token: owner.token,
    body: { email: person.email, role },
  });
  expect(invited.status, invited.text).toBe(201);
  const body = { token: await mailedInvitation(person) };
  const accepted = await call('POST', `${ORGANIZATION}/invitations/accept`, { token: person.token, body });
  expect(accepted.body, accepted.text).toMatchObject({ organization: { id: owner.userId, role } });
  const switched = await call('POST', '/v1/console/session/organization', {
    token: person.token,
    body: { organization_id: owner.userId },
  });
  expect(switched.status, switched.text).toBe(201);
  return String(switched.body['session_token']);
};

const changeRole = (owner: Person, member: Person, role: string): Promise<Answer> =>
  call('PATCH', `${ORGANIZATION}/members/${member.userId}`, { token: owner.token, body: { role } });

test('a colleague works for the company by role, in every service and in tokens already issued', async () => {
  const owner = await signUp('business');
  await fundKey(owner);
  const colleague = await signUp('personal');
  const acting = await join(owner, colleague, 'developer');
  const app = await registerApp({ ...colleague, token: acting });
  const apps = await call('GET', '/v1/integrations/apps', { token: owner.token });
  expect(apps.text).toContain(app.clientId);
  const key = await call('POST', '/v1/gateway/keys', { token: acting, body: { name: 'Colleague' } });
  expect(key.body).toMatchObject({ created_by: { svc_user_id: colleague.userId }, creator_left: false });
  const own = await call('GET', '/v1/gateway/keys', { token: acting });
  expect(Object.values(own.body['data'] ?? {}).map(({ name }) => name)).toEqual(['Colleague']);
  const refused = await call('GET', '/v1/subscriptions/invoices', { token: acting });
  expect([refused.status, refused.body['detail']]).toMatchObject([
    403,
    { code: 'role_not_allowed', required_role: 'billing' },
  ]);
  expect((await changeRole(owner, owner, 'viewer')).body).toMatchObject({ detail: { code: 'last_owner' } });
  const changedAt = performance.now();
  expect((await changeRole(owner, colleague, 'viewer')).status).toBe(200);
  const attempts = [
    () => call('POST', '/v1/gateway/keys', { token: acting, body: { name: 'No' } }),
    () => call('PATCH', `/v1/integrations/apps/${app.clientId}`, { token: acting, body: { active: false } }),
    () => call('POST', `/v1/integrations/apps/${app.clientId}/webhook/test`, { token: acting }),
    () => call('GET', '/v1/subscriptions/alerts', { token: acting }),
  ];
  for (const attempt of attempts) {
    await expect
      .poll(async () => (await attempt()).body['detail']?.['code'], { timeout: 10_000, interval: 50 })
      .toBe('role_not_allowed');
  }
  // Shown, not asserted: other work on the machine delays it.
  const tookMs = performance.now() - changedAt;
  if (tookMs > SOON_MS) process.stderr.write(`the new role held everywhere after ${Math.round(tookMs)} ms\n`);
  expect((await call('GET', '/v1/gateway/wallet', { token: acting })).status).toBe(200);
});

test('a member who leaves loses the seat and the tokens, and the company keeps keys, limits and the log', async () => {
  const owner = await signUp('business');
  await fundKey(owner);
  const colleague = await signUp('personal');
  const acting = await join(owner, colleague, 'developer');
  const created = await call('POST', '/v1/gateway/keys', { token: acting, body: { name: 'Stays' } });
  const key = String(created.body['key']);
  const limited = await call('PUT', `${ORGANIZATION}/members/${colleague.userId}/limit`, {
    token: owner.token,
    body: { monthly_limit_micros: 0 },
  });
  expect(limited.status, limited.text).toBe(200);
  const over = await call('POST', '/v1/chat/completions', { token: key, body: QUESTION });
  expect([over.status, over.body['error']]).toMatchObject([402, { code: 'member_monthly_limit_exceeded' }]);

  const bought = await call('PUT', `${ORGANIZATION}/seats`, {
    token: owner.token,
    body: { plan_id: 'starter', quantity: 1 },
  });
  expect(bought.status, bought.text).toBe(200);
  await call('POST', `/sandbox/payments/sessions/${bought.body['session_id']}/complete`);
  const body = { session_id: bought.body['session_id'] };
  expect((await call('POST', '/v1/subscriptions/checkout/confirm', { token: owner.token, body })).status).toBe(200);
  const seat = `${ORGANIZATION}/members/${colleague.userId}/seat`;
  const seated = await call('PUT', seat, { token: owner.token, body: { plan_id: 'starter' } });
  expect(seated.body, seated.text).toMatchObject({ seat: 'starter' });
  const subscription = await call('GET', '/v1/subscriptions', { token: colleague.token });
  expect(subscription.body).toMatchObject({
    subscription: { status: 'active', paid_by: { organization_id: owner.userId, name: 'Example Business' } },
  });

  const removed = await call('DELETE', `${ORGANIZATION}/members/${colleague.userId}`, { token: owner.token });
  expect(removed.status, removed.text).toBe(204);
  await expect
    .poll(async () => (await call('GET', '/v1/gateway/wallet', { token: acting })).status, { timeout: 10_000 })
    .toBe(401);
  await expect
    .poll(async () => (await call('GET', '/v1/subscriptions', { token: colleague.token })).body['subscription'], {
      timeout: 20_000,
    })
    .toMatchObject({ status: 'canceled' });
  await expect
    .poll(
      async () =>
        Object.values((await call('GET', '/v1/gateway/keys', { token: owner.token })).body['data'] ?? {}).find(
          ({ name }) => String(name) === 'Stays',
        ),
      { timeout: 20_000 },
    )
    .toMatchObject({ creator_left: true });
  const log = await call('GET', `${ORGANIZATION}/audit`, { token: owner.token });
  expect(Object.values(log.body['data'] ?? {}).map(({ action }) => String(action))).toEqual(
    expect.arrayContaining(['member.removed', 'seat.assigned', 'member.limit_changed', 'api_key.created']),
  );
  const exported = await call('GET', '/v1/console/account/export', { token: owner.token });
  const ids = Object.values(log.body['data'] ?? {}).map(({ id }) => String(id));
  expect(ids.filter((id) => !exported.text.includes(id))).toEqual([]);
});
