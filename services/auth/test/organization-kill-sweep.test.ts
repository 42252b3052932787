import { fileURLToPath } from 'node:url';
import { newId, type Role } from '@svc/contracts';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { invitationDigest, newInvitationToken } from '../src/organizations/invitations.ts';
import { type AuthProcess, startAuthProcess } from './support/auth-process.ts';
import { type Answer, call, textAt } from './support/http.ts';
import { createKillSweep, type Sweep } from './support/kill-sweep.ts';
import { type Holders, organizationPath, startHolders, switchTo } from './support/organization.ts';
import { newPerson, type Person } from './support/partner.ts';
import { putWriteStops, type WriteStops } from './support/write-stops.ts';

/** As `kill-sweep.test.ts`, for the members of an organization: nothing is half done, and each act is in the log once. */

const LATER = new Date(Date.now() + 3_600_000);

let database: TestDatabase;
let nats: TestNats;
let holders: Holders;
let service: AuthProcess;
let stops: WriteStops;
let sweep: Sweep;

beforeAll(async () => {
  const migrations = fileURLToPath(new URL('../migrations', import.meta.url));
  [database, nats, holders] = await Promise.all([testDatabase({ migrations }), testNats(), startHolders()]);
  const { environment } = holders;
  service = await startAuthProcess({ databaseUrl: database.url, natsUrl: nats.urlOf('auth'), environment });
  stops = await putWriteStops(database.knex);
  sweep = createKillSweep({ service, stops });
}, 120_000);
afterAll(async () => {
  await service?.stop();
  await stops?.release('lost');
  await database?.drop();
  await nats?.stop();
  await holders?.stop();
});

/** Stores an invitation as if its link had been mailed, and returns the token. */
const storeInvitation = async (founder: Person, person: Person, role: Role): Promise<string> => {
  const token = newInvitationToken();
  const invitation = { organization_id: founder.userId, email: person.email, role, invited_by: founder.userId };
  const times = { created_at: new Date(), expires_at: LATER };
  await database
    .knex('invitations')
    .insert({ id: newId('ivt'), digest: invitationDigest(token), ...invitation, ...times });
  return token;
};
const accept = (person: Person, token: string): Promise<Answer> =>
  call(organizationPath(service, '/invitations/accept'), { token: person.token, json: { token } });
const memberships = ({ userId }: Person) => database.knex('memberships').where({ user_id: userId });
const acts = (founder: Person, action: string) =>
  database.knex('audit_log').where({ organization_id: founder.userId, action });
const facts = (aggregate: string) => database.knex('outbox').where({ aggregate });

const newMember = async (founder: Person): Promise<Person & { acting: string; membershipId: string }> => {
  const person = await newPerson(service);
  await accept(person, await storeInvitation(founder, person, 'viewer'));
  const acting = textAt(await switchTo(service, person.token, founder.userId), 'session_token');
  const [membership] = await memberships(person);
  return { ...person, acting, membershipId: membership.id };
};
const statusOf = async (token: string): Promise<number> =>
  (await call(`${service.url}/v1/console/session`, { token })).status;

test('a killed acceptance makes a member, uses the link up and proves the address, or does nothing', async () => {
  const points = await sweep('acceptance', async () => {
    const founder = await newPerson(service, 'business');
    const person = await newPerson(service);
    const token = await storeInvitation(founder, person, 'viewer');
    return {
      act: () => accept(person, token),
      check: async () => {
        const isDone = (await memberships(person)).length === 1;
        const account = await database.knex('accounts').where({ id: person.userId }).first();
        expect(account.email_verified_at !== null).toBe(isDone);
        expect(await acts(founder, 'invitation.accepted')).toHaveLength(isDone ? 1 : 0);
        expect((await accept(person, token)).status).toBe(isDone ? 400 : 200);
        expect(await memberships(person)).toHaveLength(1);
        expect(await acts(founder, 'invitation.accepted')).toHaveLength(1);
      },
    };
  });
  expect(points).toEqual([
    ...['invitations DELETE', 'accounts UPDATE', 'outbox INSERT'],
    ...['memberships INSERT', 'audit_log INSERT', 'commit'],
  ]);
}, 300_000);

test('a killed change of a role changes the role and revokes the version before it, or does nothing', async () => {
  const points = await sweep('change of a role', async () => {
    const founder = await newPerson(service, 'business');
    const member = await newMember(founder);
    const path = organizationPath(service, `/members/${member.userId}`);
    const change = () => call(path, { method: 'PATCH', token: founder.token, json: { role: 'admin' } });
    return {
      act: change,
      check: async () => {
        const [membership] = await memberships(member);
        const isDone = membership.version === 2;
        expect(membership.role).toBe(isDone ? 'admin' : 'viewer');
        expect(await facts(`revocation:member.${member.membershipId}`)).toHaveLength(isDone ? 1 : 0);
        expect(await acts(founder, 'member.role_changed')).toHaveLength(isDone ? 1 : 0);
        expect((await change()).status).toBe(200);
        expect(await facts(`revocation:member.${member.membershipId}`)).toHaveLength(1);
        expect(await acts(founder, 'member.role_changed')).toHaveLength(1);
      },
    };
  });
  expect(points).toEqual(['memberships UPDATE', 'outbox INSERT', 'audit_log INSERT', 'commit']);
}, 300_000);

test('a killed removal ends the membership with its sessions, or does nothing', async () => {
  const points = await sweep('removal', async () => {
    const founder = await newPerson(service, 'business');
    const member = await newMember(founder);
    const path = organizationPath(service, `/members/${member.userId}`);
    const remove = () => call(path, { method: 'DELETE', token: founder.token });
    return {
      act: remove,
      check: async () => {
        const isDone = (await memberships(member)).length === 0;
        expect(await statusOf(member.acting)).toBe(isDone ? 401 : 200);
        expect(await facts(`membership:${member.membershipId}`)).toHaveLength(isDone ? 1 : 0);
        expect((await remove()).status).toBe(isDone ? 404 : 204);
        expect(await statusOf(member.acting)).toBe(401);
        expect(await facts(`membership:${member.membershipId}`)).toHaveLength(1);
        expect(await acts(founder, 'member.removed')).toHaveLength(1);
      },
    };
  });
  expect(points).toEqual([
    ...['memberships DELETE', 'console_sessions DELETE', 'outbox INSERT', 'management_keys DELETE', 'outbox INSERT'],
    ...['audit_log INSERT', 'commit'],
  ]);
}, 300_000);

test('publishes every fact and revocation in the end', async () => {
  const waiting = () => database.knex('outbox').whereNull('published_at').limit(1);
  await waitFor(async () => (await waiting()).length === 0);
}, 60_000);
