import { newId, organizationOperations, type RecordedAct, routesOf } from '@svc/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { openOperator } from './support/operator.ts';
import {
  addFactor,
  type Holders,
  inviteTo,
  newMember,
  type Organization,
  organizationPath,
  startHolders,
} from './support/organization.ts';
import { newApp, newPerson, PASSWORD } from './support/partner.ts';

let service: AuthService;
let holders: Holders;
let mailbox: Mailbox;

beforeAll(async () => {
  [holders, mailbox] = await Promise.all([startHolders(), startMailbox()]);
  service = await startAuthService(
    { ...holders.environment, MAIL_URL: mailbox.url },
    undefined,
    undefined,
    // Every domain has its proof.
    { proveDomain: async () => ({ dns: 'proven', file: 'missing' }) },
  );
});
afterAll(async () => {
  await service?.stop();
  await holders?.stop();
  await mailbox?.stop();
});
beforeEach(() => {
  holders.down = undefined;
  for (const acts of Object.values(holders.acts)) acts.length = 0;
});

const errorOf = (answer: Answer) => [answer.status, textAt(answer, 'detail', 'code')];
const readLog = (token: string, query = '', accept = 'application/json'): Promise<Answer> =>
  call(organizationPath(service, `/audit${query}`), { token, headers: { accept } });
interface Entry {
  readonly id: string;
  readonly action: string;
  readonly actor: { readonly svc_user_id: string; readonly name: string | null } | null;
  readonly target: { readonly type: string; readonly id: string | null; readonly name: string | null };
  readonly source: string;
}
const entriesIn = ({ body }: Answer): Entry[] => (body as { data: Entry[] }).data;
const send = async (method: string, path: string, token: string, json?: object): Promise<Answer> => {
  const answer = await call(`${service.url}/v1${path}`, { method, token, ...(json === undefined ? {} : { json }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer;
};
const recorded = (over: Partial<RecordedAct>): RecordedAct => ({
  id: newId('aud'),
  at: new Date().toISOString(),
  actor_id: null,
  action: 'top_up.started',
  target: { type: 'wallet', id: null, name: null },
  source: 'console',
  ...over,
});

/** Does everything that the log of an organization holds, as far as auth does it. */
const doEverything = async (organization: Organization): Promise<void> => {
  const { token, userId } = organization;
  await send('PATCH', '/console/account', token, { business_name: 'Acme Ltd' });
  await send('PATCH', '/console/account', token, { business_name: 'Acme Ltd', display_name: 'Ann' });
  const { clientId } = await newApp(service, organization, { client_type: 'confidential', name: 'Shop' });
  await send('PATCH', `/integrations/apps/${clientId}`, token, { active: true, name: 'Shop 2' });
  await send('POST', `/integrations/apps/${clientId}/rotate-secret`, token);
  const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
  await call(`${service.url}/v1/integrations/apps/${clientId}/icon`, {
    method: 'PUT',
    token,
    body: new Uint8Array(png),
  });
  await send('DELETE', `/integrations/apps/${clientId}`, token);
  const domain = `${userId.replace('_', '')}.example`;
  await send('POST', '/console/publisher/domains', token, { domain });
  await send('POST', `/console/publisher/domains/${domain}/check`, token);
  await send('DELETE', `/console/publisher/domains/${domain}`, token);
  const key = await send('POST', '/console/management-keys', token, { name: 'CI', scopes: ['apps:read'] });
  await send('DELETE', `/console/management-keys/${textAt(key, 'id')}`, token);
  const member = await newMember(service, mailbox, { organization, role: 'viewer' });
  await send('PATCH', `/console/organization/members/${member.userId}`, token, { role: 'billing' });
  await send('DELETE', `/console/organization/members/${member.userId}`, token);
  await inviteTo(service, mailbox, { token, email: `x-${member.email}`, role: 'viewer' });
  const invited = await send('GET', '/console/organization/invitations', token);
  await send('DELETE', `/console/organization/invitations/${textAt(invited, 'data', 0, 'id')}`, token);
  await addFactor(service, token);
  await send('PUT', '/console/organization/settings', token, { second_factor_required: true });
};

describe('the audit log', () => {
  test('has every act that the contract names, once, and survives its organization', async () => {
    const organization = await newPerson(service, 'business');
    await doEverything(organization);
    const log = entriesIn(await readLog(organization.token, '?limit=100'));
    const deletion = { method: 'DELETE', token: organization.token, json: { password: PASSWORD } };
    expect((await call(`${service.url}/v1/console/account`, deletion)).status).toBe(202);
    const rows = await service.database('audit_log').where({ organization_id: organization.userId });
    const named = routesOf('auth').flatMap(({ audit }) => (audit == null ? [] : [audit]));
    const actions = rows.map(({ action }) => action);
    // Two people are invited.
    expect(actions.toSorted()).toEqual([...named, 'invitation.created'].toSorted());
    expect(log).toHaveLength(rows.length - 1);
    expect(log.every(({ source }) => source === 'console')).toBe(true);
    const app = log.find(({ action }) => action === 'app.registered');
    expect(app).toMatchObject({
      actor: { svc_user_id: organization.userId, name: 'Acme Ltd' },
      target: { type: 'app', id: expect.stringMatching(/^app_/), name: 'Shop' },
    });
  });

  test('cannot be changed, nor shortened', async () => {
    const organization = await newPerson(service, 'business');
    await newApp(service, organization);
    const rows = service.database('audit_log').where({ organization_id: organization.userId });
    await expect(rows.clone().update({ actor_id: null })).rejects.toThrow('append-only');
    await expect(rows.clone().delete()).rejects.toThrow('append-only');
    await expect(service.database('audit_log').truncate()).rejects.toThrow('append-only');
    expect(await rows.clone()).toHaveLength(1);
  });

  test('names people as they are now, and only by their ids after an erasure', async () => {
    const organization = await newPerson(service, 'business');
    const member = await newMember(service, mailbox, { organization, role: 'developer' });
    await newApp(service, { ...member, token: member.acting });
    const authorOf = async () => entriesIn(await readLog(organization.token, `?action=app.registered`))[0]?.actor;
    expect(await authorOf()).toEqual({ svc_user_id: member.userId, name: member.email });
    await service.database('accounts').where({ id: member.userId }).update({ display_name: 'Bob' });
    expect(await authorOf()).toEqual({ svc_user_id: member.userId, name: 'Bob' });
    await service.database('accounts').where({ id: member.userId }).delete();
    expect(await authorOf()).toEqual({ svc_user_id: member.userId, name: null });
    const [joined] = entriesIn(await readLog(organization.token, '?action=invitation.accepted'));
    expect(joined?.target).toEqual({ type: 'member', id: member.userId, name: null });
    const stored = JSON.stringify(await service.database('audit_log'));
    expect(stored).not.toContain(member.email);
  });

  test('merges the acts of all services, newest first, in pages and as one file', async () => {
    const organization = await newPerson(service, 'business');
    await newApp(service, organization, { name: '=1+1;=2' });
    holders.acts.billing.push(recorded({}), recorded({ actor_id: organization.userId }));
    holders.acts['inference-gateway'].push(recorded({ action: 'api_key.created', source: 'management_key' }));
    holders.acts['webhook-dispatcher'].push(recorded({ action: 'webhook.configured' }));
    await newApp(service, organization);
    const whole = await readLog(organization.token);
    expect(entriesIn(whole).map(({ action }) => action)).toEqual([
      'app.registered',
      'webhook.configured',
      'api_key.created',
      'top_up.started',
      'top_up.started',
      'app.registered',
    ]);
    expect(whole.body).toMatchObject({ has_more: false });
    const paged: Entry[] = [];
    for (let after = '', hasMore = true; hasMore; ) {
      const page = await readLog(organization.token, `?limit=2${after}`);
      paged.push(...entriesIn(page));
      after = `&after=${paged.at(-1)?.id}`;
      hasMore = page.text.includes('"has_more":true');
    }
    expect(paged).toEqual(entriesIn(whole));
    const file = await readLog(organization.token, '?limit=2', 'text/csv');
    expect(file.headers.get('content-type')).toContain('text/csv');
    const lines = file.text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(7);
    expect(lines[0]).toBe('id,at,actor_id,actor_name,action,target_type,target_id,target_name,source');
    expect(lines.at(-1)).toContain(",'=1+1;'=2,console");
  });

  test('filters by actor, action and time', async () => {
    const organization = await newPerson(service, 'business');
    const member = await newMember(service, mailbox, { organization, role: 'developer' });
    await newApp(service, { ...member, token: member.acting });
    await newApp(service, organization);
    const actionsOf = async (query: string) =>
      entriesIn(await readLog(organization.token, query)).map(({ action }) => action);
    expect(await actionsOf(`?actor=${member.userId}`)).toEqual(['app.registered', 'invitation.accepted']);
    expect(await actionsOf('?action=invitation.created')).toEqual(['invitation.created']);
    const day = new Date(Date.now() + 86_400_000).toISOString();
    expect(await actionsOf(`?from=${day}`)).toEqual([]);
    expect(await actionsOf(`?to=${day}`)).toHaveLength(4);
  });

  test.each(['/internal/billing/acts', '/internal/inference-gateway/acts', '/internal/webhook-dispatcher/acts'])(
    'is refused with 503 without %s: gaps would mislead',
    async (path) => {
      const organization = await newPerson(service, 'business');
      holders.down = path;
      expect(errorOf(await readLog(organization.token))).toEqual([503, 'service_unavailable']);
      expect(errorOf(await readLog(organization.token, '', 'text/csv'))).toEqual([503, 'service_unavailable']);
    },
  );

  test('is a part of the export of the organization', async () => {
    const organization = await newPerson(service, 'business');
    const { clientId } = await newApp(service, organization);
    const exported = await call(`${service.url}/v1/console/account/export`, { token: organization.token });
    expect(exported.body).toMatchObject({
      auth: {
        audit_log: [{ action: 'app.registered', actor_id: organization.userId, target_id: clientId }],
        members: [{ svc_user_id: organization.userId, role: 'owner' }],
      },
    });
  });
});

describe('an operator', () => {
  test('shows an organization and gives it another owner, which its log tells', async () => {
    const organization = await newPerson(service, 'business');
    const person = await newPerson(service);
    const operator = openOperator(service, 'ada');
    const params = { svc_user_id: organization.userId };
    const add = (body: { email: string } | { svc_user_id: string }) =>
      operator.call(organizationOperations.addOwner, { params, body });
    expect((await add({ email: person.email })).body).toMatchObject({ svc_user_id: person.userId, role: 'owner' });
    expect((await add({ svc_user_id: person.userId })).body).toMatchObject({ role: 'owner' });
    const shown = await operator.call(organizationOperations.showOrganization, { params });
    expect(shown.body).toMatchObject({
      name: 'Acme',
      members: [
        { svc_user_id: organization.userId, role: 'owner' },
        { svc_user_id: person.userId, role: 'owner' },
      ],
    });
    expect(entriesIn(await readLog(organization.token))).toMatchObject([
      { action: 'organization.owner_added', actor: null, source: 'operator', target: { id: person.userId } },
    ]);
    const personal = { svc_user_id: person.userId };
    const refused = operator.call(organizationOperations.showOrganization, { params: personal });
    await expect(refused).rejects.toMatchObject({ status: 404 });
    await operator.close();
  });
});
