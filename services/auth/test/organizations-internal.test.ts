import { internalRoutes } from '@svc/contracts';
import { createInternalClient, createTokenAuthenticators, type InternalClient } from '@svc/service-kit';
import { internalCredential } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { call } from './support/http.ts';
import { type Mailbox, startMailbox } from './support/mailbox.ts';
import { type Holders, newMember, organizationPath, startHolders } from './support/organization.ts';
import { newPerson } from './support/partner.ts';

let service: AuthService;
let holders: Holders;
let mailbox: Mailbox;
let client: InternalClient;

beforeAll(async () => {
  [holders, mailbox] = await Promise.all([startHolders(), startMailbox()]);
  service = await startAuthService({ ...holders.environment, MAIL_URL: mailbox.url });
  const token = internalCredential('billing');
  client = createInternalClient({ baseUrl: service.internalUrl, token, timeoutMs: 5_000 });
});
afterAll(async () => {
  await client?.close();
  await service?.stop();
  await holders?.stop();
  await mailbox?.stop();
});

/** Authenticates as another service does that has heard of these versions. */
const authenticateElsewhere = (superseded: ReadonlyMap<string, number>, token: string) => {
  const { console_session } = createTokenAuthenticators({
    publicBaseUrl: service.url,
    jwksUrl: `${service.url}/v1/integrations/oauth/jwks`,
    auth: client,
    revocations: {
      isRevoked: () => false,
      refreshIfStale: () => undefined,
      isMembershipSuperseded: ({ membershipId, version }) => version <= (superseded.get(membershipId) ?? 0),
    },
  });
  return console_session(token, { scheme: 'Bearer', method: 'GET', path: '/', proof: undefined });
};

describe('the other services', () => {
  test('let the role of a token hold, then the present one once they hear of a change, then none', async () => {
    const founder = await newPerson(service, 'business');
    const member = await newMember(service, mailbox, { organization: founder, role: 'viewer' });
    const { id } = await service.database('memberships').where({ user_id: member.userId }).first();
    const caller = await authenticateElsewhere(new Map(), member.acting);
    expect(caller).toMatchObject({
      userId: member.userId,
      personId: member.userId,
      accountType: 'business',
      organization: { id: founder.userId, role: 'viewer', membershipId: id, version: 1 },
    });
    const path = organizationPath(service, `/members/${member.userId}`);
    await call(path, { method: 'PATCH', token: founder.token, json: { role: 'admin' } });
    const [revocation] = await service.outbox(`revocation:member.${id}`);
    const heard = new Map([[id, Number(revocation?.payload['revoked_through'])]]);
    expect(await authenticateElsewhere(heard, member.acting)).toMatchObject({
      organization: { role: 'admin', version: 2 },
    });
    await call(path, { method: 'DELETE', token: founder.token });
    heard.set(id, 2);
    await expect(authenticateElsewhere(heard, member.acting)).rejects.toMatchObject({ code: 'invalid_token' });
  });

  test('find memberships in the order of their ids, with null for one that has ended', async () => {
    const founder = await newPerson(service, 'business');
    const [membership] = await service.database('memberships').where({ user_id: founder.userId });
    const { body } = await client.call(internalRoutes.findMemberships, { body: { ids: ['mem_x', membership.id] } });
    expect(body.data).toEqual([
      null,
      {
        id: membership.id,
        organization_id: founder.userId,
        svc_user_id: founder.userId,
        role: 'owner',
        version: 1,
      },
    ]);
  });

  test('list the members of an organization with their memberships, and name accounts', async () => {
    const founder = await newPerson(service, 'business');
    const member = await newMember(service, mailbox, { organization: founder, role: 'viewer' });
    const params = { svc_user_id: founder.userId };
    const listed = await client.call(internalRoutes.listMembersOf, { params });
    const mem = expect.stringMatching(/^mem_/);
    expect(listed.body.data).toMatchObject([
      { svc_user_id: founder.userId, role: 'owner', membership_id: mem },
      { svc_user_id: member.userId, role: 'viewer', membership_id: mem, email: member.email },
    ]);
    const svc_user_ids = [member.userId, 'usr_01m8gqv8n34pkrneevtmk8223f', founder.userId];
    const named = await client.call(internalRoutes.nameAccounts, { body: { svc_user_ids } });
    expect(named.body.data.map(({ name }) => name)).toEqual([member.email, null, 'Acme']);
  });
});
