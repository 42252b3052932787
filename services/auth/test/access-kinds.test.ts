import { randomBytes } from 'node:crypto';
import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findAccountById, lockAccount } from '../src/accounts/index.ts';
import { OWN_ORIGIN } from '../src/connections/index.ts';
import { ACCESS_KINDS, type Ending, endAccess } from '../src/credentials/index.ts';
import { type AuthService, mailSealer, startAuthService } from './support/auth-service.ts';
import { connect, newApp, newPerson, type Person, REDIRECT_URI } from './support/partner.ts';

const HOUR_MS = 3_600_000;

/** Tables that hold no way into an account, and why. */
const OTHER_TABLES: Readonly<Record<string, string>> = {
  applied_functions: 'migrations',
  app_cutoffs: 'ends grants',
  app_icons: 'pictures',
  app_reports: 'text',
  app_suspensions: 'work that ends connections',
  connection_audit: 'history',
  blocked_client_hosts: 'ends grants',
  client_documents: 'public facts about clients',
  denied_forms: 'digests of used forms',
  dpop_proofs: 'digests of used proofs',
  epochs: 'restores',
  audit_log: 'history',
  erased_accounts: 'ids',
  former_signing_keys: 'public keys',
  mails: 'mails; the links in them are void without their row in mailed_tokens',
  password_reset_requests: 'requests for a mail to the address of the account',
  publisher_domains: 'names that an account has proven',
  secret_checks: 'check values of keys',
  sign_in_attempts: 'digests of failures',
  signing_keys: 'the service itself',
  used_passkey_challenges: 'digests of used challenges',
};
const MESSAGING_TABLES = ['dead_letters', 'inbox', 'inbox_versions', 'outbox', 'outbox_streams'];

let service: AuthService;
beforeAll(async () => {
  service = await startAuthService({ ERASURE_DELAY_DAYS: '0' });
});
afterAll(() => service.stop());

test('every table is the table of a kind of access, or named here as none', async () => {
  const tables: string[] = await service.database('pg_tables').where({ schemaname: 'public' }).pluck('tablename');
  const declared = new Set([
    ...ACCESS_KINDS.flatMap((kind) => kind.tables),
    ...Object.keys(OTHER_TABLES),
    ...MESSAGING_TABLES,
  ]);
  const unknown = tables.filter((name) => !declared.has(name) && !name.startsWith('knex'));
  expect(unknown).toEqual([]);
});

const PURPOSES = ['verify_email', 'reset_password', 'confirm_email', 'undo_email', 'link_identity', 'cancel_deletion'];

/** Stores a credential of each kind, added now or long ago, in an account that connects an app and owns another. */
const newFullAccount = async (addedAt: Date): Promise<Person> => {
  const person = await newPerson(service, 'business');
  const foreign = await newApp(service, await newPerson(service, 'business'));
  const own = await newApp(service, person, { client_type: 'confidential' });
  const { grantId } = await connect(service, { app: foreign, person });
  const db = service.database;
  const { userId } = person;
  const id = randomBytes(8).toString('hex');
  const later = new Date(addedAt.getTime() + 1_000 * HOUR_MS);
  const digest = () => randomBytes(32);
  await db('accounts').where({ id: userId }).update({ has_second_factor: true });
  await db('grants').where({ id: grantId }).update({ created_at: addedAt });
  await db('connections').where({ user_id: userId }).update({ connected_at: addedAt });
  const code = { redirect_uri: REDIRECT_URI, code_challenge: 'x', issued_at: addedAt, expires_at: later };
  await db('authorization_codes').insert({ digest: digest(), grant_id: grantId, ...code });
  await db('sign_in_challenges').insert({ digest: digest(), user_id: userId, expires_at: later });
  const totp = { name: 'a', sealed_secret: digest(), created_at: addedAt, confirmed_at: addedAt, last_step: 1 };
  await db('totp_factors').insert({ id: newId('fac'), user_id: userId, ...totp });
  const passkey = { name: 'b', credential_id: id, public_key: digest(), counter: 0, transports: [] };
  await db('passkeys').insert({ id: newId('fac'), user_id: userId, ...passkey, created_at: addedAt });
  const key = { name: 'c', prefix: 'svc_mk_', scopes: ['apps:read'], session_id: newId('ses'), created_at: addedAt };
  const invitation = { email: `${id}@example.com`, role: 'viewer', invited_by: userId, expires_at: later };
  const ivt = { id: newId('ivt'), organization_id: userId, digest: digest(), created_at: addedAt };
  await db('invitations').insert({ ...ivt, ...invitation });
  const colleague = await newPerson(service);
  const elsewhere = await newPerson(service, 'business');
  const membership = { role: 'admin', joined_at: addedAt };
  await db('memberships').insert([
    { id: newId('mem'), organization_id: userId, user_id: colleague.userId, ...membership },
    { id: newId('mem'), organization_id: elsewhere.userId, user_id: userId, ...membership },
  ]);
  await db('management_keys').insert({
    id: newId('mk'),
    user_id: userId,
    created_by: userId,
    digest: digest(),
    ...key,
  });
  await db('recovery_codes').insert({ user_id: userId, digest: digest(), created_at: addedAt });
  await db('sso_identities').insert({ issuer: 'https://id.example', subject: id, user_id: userId, linked_at: addedAt });
  await db('pushed_requests').insert({ digest: digest(), client_id: own.clientId, parameters: {}, expires_at: later });
  // Signing up has mailed one already.
  await db('mailed_tokens').where({ user_id: userId }).delete();
  for (const purpose of PURPOSES) {
    const identity = purpose === 'link_identity' ? { issuer: 'https://id.example', subject: id } : {};
    const link = { purpose, email: person.email, created_at: addedAt, expires_at: later, ...identity };
    await db('mailed_tokens').insert({ digest: digest(), user_id: userId, ...link });
  }
  return person;
};

/** Names the credentials that an account has. */
const credentialsOf = async ({ userId }: Person): Promise<string[]> => {
  const db = service.database;
  const account = await db('accounts').where({ id: userId }).first();
  const own = db('apps').where({ owner_user_id: userId }).select('client_id');
  const grants = db('grants').where({ user_id: userId }).select('id');
  const counts = {
    password: account?.password_hash == null ? [] : [1],
    sessions: await db('console_sessions').where({ user_id: userId }),
    challenges: await db('sign_in_challenges').where({ user_id: userId }),
    totps: await db('totp_factors').where({ user_id: userId }),
    passkeys: await db('passkeys').where({ user_id: userId }),
    recovery_codes: await db('recovery_codes').where({ user_id: userId }),
    identities: await db('sso_identities').where({ user_id: userId }),
    connections: await db('connections').where({ user_id: userId, ended_at: null }),
    management_keys: await db('management_keys').where({ user_id: userId }),
    grants: await grants.clone(),
    codes: await db('authorization_codes').whereIn('grant_id', grants.clone()),
    refresh_tokens: await db('refresh_tokens').whereIn('grant_id', grants.clone()),
    apps: await db('apps').where({ owner_user_id: userId, active: true }),
    client_secrets: await db('app_secrets').whereIn('client_id', own.clone()),
    members: await db('memberships').where({ organization_id: userId }).whereNot({ user_id: userId }),
    memberships: await db('memberships').where({ user_id: userId }).whereNot({ organization_id: userId }),
    invitations: await db('invitations').where({ organization_id: userId }),
  };
  const links: string[] = await db('mailed_tokens').where({ user_id: userId }).orderBy('purpose').pluck('purpose');
  const held = Object.entries(counts).filter(([, rows]) => rows.length > 0);
  return [...held.map(([name]) => name), ...links];
};

const endOf = async (person: Person, ending: Ending, distrustedSince: Date): Promise<void> => {
  const deps = { newId, clock: service.clock, mailSealer };
  await service.database.transaction(async (trx) => {
    const account = (await lockAccount(trx, person.userId))?.account;
    if (account === undefined) throw new Error('no account');
    const after = await endAccess(deps, trx, {
      account,
      origin: OWN_ORIGIN,
      now: service.clock(),
      endings: [ending],
      distrustedSince,
    });
    expect(after).toEqual(await findAccountById(trx, person.userId));
  });
};
const keyFactsOf = async ({ userId }: Person) =>
  (await service.outbox())
    .filter(({ subject, payload }) => subject === 'auth.account.access_ended.v1' && payload['svc_user_id'] === userId)
    .map(({ payload }) => payload['keys_added_since'] ?? 'all');

const FACTORS = ['totps', 'passkeys', 'recovery_codes'];
const GRANTS = ['connections', 'management_keys', 'grants', 'codes', 'refresh_tokens'];
const PEOPLE = ['members', 'memberships', 'invitations'];
const ALL = [
  'password',
  'sessions',
  'challenges',
  ...FACTORS,
  'identities',
  ...GRANTS,
  'apps',
  'client_secrets',
  ...PEOPLE,
  ...PURPOSES.toSorted(),
];
const SIGNED_OUT = ['sessions', 'challenges', 'reset_password', 'confirm_email', 'link_identity'];
const INTRUSION = [...SIGNED_OUT, 'verify_email', 'cancel_deletion'];

describe('an ending ends exactly what its column says', () => {
  const since = new Date(Date.now() - 24 * HOUR_MS);
  const recent = new Date(Date.now() - HOUR_MS);
  const old = new Date(Date.now() - 48 * HOUR_MS);

  test.each<[Ending, Date, string[], string[]]>([
    ['sign_out', recent, SIGNED_OUT, []],
    ['revocation', recent, [...SIGNED_OUT, ...GRANTS], ['all']],
    ['unproven_address', recent, [...SIGNED_OUT, ...FACTORS, 'identities', ...PEOPLE], []],
    ['intrusion', recent, [...INTRUSION, ...FACTORS, 'identities', ...GRANTS, ...PEOPLE], [since.toISOString()]],
    ['intrusion', old, INTRUSION, [since.toISOString()]],
    ['take_over', recent, ALL, ['all']],
    [
      'deletion',
      recent,
      [...SIGNED_OUT, ...GRANTS, 'apps', 'memberships', 'invitations', 'verify_email', 'cancel_deletion'],
      ['all'],
    ],
  ])('%s of credentials added at %s', async (ending, addedAt, ended, keys) => {
    const person = await newFullAccount(addedAt);
    expect(await credentialsOf(person)).toEqual(ALL);
    await endOf(person, ending, since);
    expect(await credentialsOf(person)).toEqual(ALL.filter((name) => !ended.includes(name)));
    expect(await keyFactsOf(person)).toEqual(keys);
  });

  test('an erasure leaves no row of any kind', async () => {
    const person = await newFullAccount(recent);
    await service.database('accounts').where({ id: person.userId }).update({ erase_at: recent });
    await waitFor(async () => (await credentialsOf(person)).length === 0);
    const erased = await service.database('erased_accounts').where({ user_id: person.userId });
    expect(erased).toEqual([{ user_id: person.userId, erased_at: expect.any(Date) }]);
  });
});

test('an intrusion leaves a connection its earlier grants, and the scope of the newest of them', async () => {
  const person = await newPerson(service);
  const app = await newApp(service, await newPerson(service, 'business'));
  const first = await connect(service, { app, person, over: { scope: 'usage:read' } });
  const old = new Date(Date.now() - 48 * HOUR_MS);
  await service.database('grants').where({ id: first.grantId }).update({ created_at: old });
  await service.database('connections').where({ user_id: person.userId }).update({ connected_at: old });
  const second = await connect(service, { app, person, over: { scope: 'usage:read inference' } });
  await endOf(person, 'intrusion', new Date(Date.now() - 24 * HOUR_MS));
  expect(await service.database('grants').where({ user_id: person.userId }).pluck('id')).toEqual([first.grantId]);
  expect(await service.outbox(`revocation:grant.${second.grantId}`)).toHaveLength(1);
  const [connection] = await service.database('connections').where({ user_id: person.userId });
  expect(connection).toMatchObject({ scope: 'usage:read', ended_at: null, last_grant_id: first.grantId });
});
