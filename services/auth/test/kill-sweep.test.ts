import { fileURLToPath } from 'node:url';
import { newId } from '@svc/contracts';
import { type TestDatabase, testDatabase } from '@svc/database/testing';
import { type TestNats, testNats } from '@svc/messaging/testing';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AuthProcess, startAuthProcess } from './support/auth-process.ts';
import type { OutboxRow } from './support/auth-service.ts';
import { call, textAt } from './support/http.ts';
import { createKillSweep, KILLS_OF_A_SAMPLE, type Sweep } from './support/kill-sweep.ts';
import {
  approve,
  connect,
  consentRequest,
  newApp,
  newPerson,
  newVerifier,
  type Person,
  type RegisteredApp,
  redeem,
  refresh,
} from './support/partner.ts';
import { putWriteStops, type WriteStops } from './support/write-stops.ts';

/**
 * The real process is killed before a write, or before a commit, of everything that belongs together. The write that was
 * under way is lost with its connection, or lands though the process is gone. After the restart nothing is half-done,
 * and a client that repeats itself gets what it should. Which writes there are is part of what is tested.
 *
 * A run kills before some of them, which the seed chooses; KILL_SWEEP=full kills before each, one after the other.
 */

/** Writes that several operations have in common. */
const GRANT_ENDS = ['grants DELETE', 'authorization_codes DELETE', 'refresh_tokens DELETE', 'device_codes DELETE'];
const APP_IS_CUT_OFF = ['app_cutoffs INSERT', 'app_cutoffs UPDATE', 'outbox INSERT'];
const CONNECTIONS_END = ['connections UPDATE', ...GRANT_ENDS, 'connection_audit INSERT', 'outbox INSERT'];
/** One more than a transaction of the suspension takes, so that there are two. */
const PEOPLE_OF_A_BIG_APP = 501;
const PEOPLE_OF_A_SMALL_APP = 3;

let database: TestDatabase;
let nats: TestNats;
let service: AuthProcess;
let stops: WriteStops;
let sweep: Sweep;
let owner: Person;
let app: RegisteredApp;

beforeAll(async () => {
  const migrations = fileURLToPath(new URL('../migrations', import.meta.url));
  [database, nats] = await Promise.all([testDatabase({ migrations }), testNats()]);
  service = await startAuthProcess({ databaseUrl: database.url, natsUrl: nats.urlOf('auth') });
  stops = await putWriteStops(database.knex);
  sweep = createKillSweep({ service, stops });
  owner = await newPerson(service, 'business');
  app = await newApp(service, owner, { refresh_grace_seconds: 120 });
}, 120_000);
afterAll(async () => {
  await service.stop();
  await stops.release('lost');
  await database.drop();
  await nats.stop();
});

/** Every fact and revocation that was committed; the relay marks what has gone out, and takes nothing out for days. */
const facts = async (): Promise<OutboxRow[]> =>
  await database.knex('outbox').orderBy('seq').select('subject', 'aggregate', 'version', 'payload');

/** Everything that is stored about a person and an app. */
const everythingOf = async (person: Person, of: RegisteredApp = app) => {
  const key = { user_id: person.userId, client_id: of.clientId };
  const grants = await database.knex('grants').where(key).orderBy('id');
  const ids = grants.map(({ id }) => id);
  const aggregate = `connection:${person.userId}:${of.clientId}`;
  return {
    connections: await database.knex('connections').where(key),
    grants,
    codes: await database.knex('authorization_codes').whereIn('grant_id', ids),
    tokens: await database.knex('refresh_tokens').whereIn('grant_id', ids),
    audit: await database.knex('connection_audit').where(key).orderBy('id'),
    facts: (await facts()).filter((fact) => fact.aggregate === aggregate),
  };
};
type Everything = Awaited<ReturnType<typeof everythingOf>>;
const sizesOf = (state: Everything) => ({
  connections: state.connections.length,
  grants: state.grants.length,
  codes: state.codes.length,
  tokens: state.tokens.length,
  audit: state.audit.length,
  facts: state.facts.map(({ version }) => version),
});
const revocationsOf = async (grantId: string) =>
  (await facts()).filter(({ subject }) => subject === `$KV.revocations.grant.${grantId}`);
const disconnect = (person: Person) =>
  call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: person.token });

test('a killed consent stores connection, grant, code, trail and fact together or not at all', async () => {
  const points = await sweep('consent', async () => {
    const person = await newPerson(service);
    const request = consentRequest(app, newVerifier());
    return {
      act: () => call(`${service.url}/v1/integrations/oauth/authorize`, { token: person.token, json: request }),
      check: async () => {
        const sizes = sizesOf(await everythingOf(person));
        const none = { connections: 0, grants: 0, codes: 0, tokens: 0, audit: 0, facts: [] };
        const whole = { connections: 1, grants: 1, codes: 1, tokens: 0, audit: 1, facts: [1] };
        expect([none, whole]).toContainEqual(sizes);
        await connect(service, { app, person });
      },
    };
  });
  expect(points).toEqual([
    ...['connections INSERT', 'grants INSERT', 'connection_audit INSERT', 'outbox INSERT'],
    ...['authorization_codes INSERT', 'mails INSERT', 'commit'],
  ]);
}, 300_000);

test('a killed exchange uses the code and stores its refresh token, or neither; no code is redeemed twice', async () => {
  const points = await sweep('exchange', async () => {
    const person = await newPerson(service);
    const verifier = newVerifier();
    const code = await approve(service, { app, person, verifier });
    const before = await everythingOf(person);
    return {
      act: () => redeem(service, { app, code, verifier }),
      check: async () => {
        const after = await everythingOf(person);
        const wasUsed = after.codes[0]?.consumed_at !== null;
        expect(after.tokens).toHaveLength(wasUsed ? 1 : 0);
        if (!wasUsed) expect(after).toEqual(before);
        // Whose answer was lost connects again; presenting the code again is what a thief does.
        const again = await redeem(service, { app, code, verifier });
        expect(again.status).toBe(wasUsed ? 400 : 200);
        if (!wasUsed) expect((await redeem(service, { app, code, verifier })).status).toBe(400);
        expect((await everythingOf(person)).grants).toEqual([]);
        expect(await revocationsOf(String(before.grants[0]?.id))).toHaveLength(1);
      },
    };
  });
  expect(points).toEqual(['grants UPDATE', 'authorization_codes UPDATE', 'refresh_tokens INSERT', 'commit']);
}, 300_000);

test('a killed refresh can be repeated within the grace, however often its answer is lost', async () => {
  const points = await sweep('refresh', async () => {
    const person = await newPerson(service);
    const { refreshToken, grantId } = await connect(service, { app, person });
    return {
      act: () => refresh(service, { app, token: refreshToken }),
      check: async () => {
        const { tokens } = await everythingOf(person);
        expect(tokens).toHaveLength(1);
        const again = await refresh(service, { app, token: refreshToken });
        expect(again.status).toBe(200);
        expect((await refresh(service, { app, token: textAt(again, 'refresh_token') })).status).toBe(200);
        expect(await revocationsOf(grantId)).toEqual([]);
      },
    };
  });
  expect(points).toEqual(['grants UPDATE', 'refresh_tokens UPDATE', 'commit']);
}, 300_000);

test('a killed second use within the grace stores its pair or not, and the grant stays', async () => {
  const points = await sweep('grace', async () => {
    const person = await newPerson(service);
    const { refreshToken } = await connect(service, { app, person });
    await refresh(service, { app, token: refreshToken });
    return {
      act: () => refresh(service, { app, token: refreshToken }),
      check: async () => {
        const again = await refresh(service, { app, token: refreshToken });
        expect(again.status).toBe(200);
        expect((await refresh(service, { app, token: textAt(again, 'refresh_token') })).status).toBe(200);
      },
    };
  });
  expect(points).toEqual(['grants UPDATE', 'refresh_tokens UPDATE', 'commit']);
}, 300_000);

test('a killed replay ends the grant with its revocation, or the next replay does', async () => {
  const points = await sweep('replay', async () => {
    const person = await newPerson(service);
    const { code, verifier, grantId, refreshToken } = await connect(service, { app, person });
    return {
      act: () => redeem(service, { app, code, verifier }),
      check: async () => {
        const { grants } = await everythingOf(person);
        expect(await revocationsOf(grantId)).toHaveLength(1 - grants.length);
        expect((await redeem(service, { app, code, verifier })).status).toBe(400);
        expect((await refresh(service, { app, token: refreshToken })).status).toBe(400);
        const sizes = sizesOf(await everythingOf(person));
        expect(sizes).toEqual({ connections: 1, grants: 0, codes: 0, tokens: 0, audit: 2, facts: [1] });
        expect(await revocationsOf(grantId)).toHaveLength(1);
      },
    };
  });
  expect(points).toEqual([...GRANT_ENDS, 'outbox INSERT', 'connection_audit INSERT', 'connections UPDATE', 'commit']);
}, 300_000);

test('a killed disconnect ends every grant with one fact, or changes nothing', async () => {
  const points = await sweep('disconnect', async () => {
    const person = await newPerson(service);
    const { grantId } = await connect(service, { app, person });
    const before = await everythingOf(person);
    return {
      act: () => disconnect(person),
      check: async () => {
        const after = await everythingOf(person);
        const isEnded = after.grants.length === 0;
        if (!isEnded) expect(after).toEqual(before);
        expect((await disconnect(person)).status).toBe(isEnded ? 404 : 204);
        const sizes = sizesOf(await everythingOf(person));
        expect(sizes).toEqual({ connections: 1, grants: 0, codes: 0, tokens: 0, audit: 2, facts: [1, 2] });
        expect(await revocationsOf(grantId)).toHaveLength(1);
      },
    };
  });
  expect(points).toEqual([
    ...[...GRANT_ENDS, 'outbox INSERT', 'connections UPDATE', 'connection_audit INSERT', 'outbox INSERT', 'commit'],
  ]);
}, 300_000);

/** Connections without the cost of consenting to each. */
const seedConnections = async (clientId: string, people: number): Promise<void> => {
  const now = new Date();
  const rows = Array.from({ length: people }, () => ({ userId: newId('usr'), grantId: newId('grt') }));
  await database.knex.batchInsert(
    'accounts',
    rows.map(({ userId }) => ({
      id: userId,
      email: `${userId}@example.com`,
      password_hash: 'x',
      account_type: 'personal',
      locale: 'it',
      created_at: now,
    })),
  );
  const key = ({ userId }: { userId: string }) => ({ user_id: userId, client_id: clientId, scope: 'inference' });
  await database.knex.batchInsert(
    'connections',
    rows.map((row) => ({ ...key(row), connected_at: now, last_grant_id: row.grantId, version: 1 })),
  );
  const expires_at = new Date(now.getTime() + 1e9);
  await database.knex.batchInsert(
    'grants',
    rows.map((row) => ({ ...key(row), id: row.grantId, created_at: now, expires_at })),
  );
};
const endedUsersOf = async (clientId: string): Promise<string[]> =>
  (await facts())
    .filter(({ subject, payload }) => subject === 'auth.app.disconnected.v1' && payload['client_id'] === clientId)
    // As the contract says, which the outbox has checked.
    .flatMap(({ payload }) => payload['connections'] as { svc_user_id: string }[])
    .map(({ svc_user_id }) => svc_user_id);
const rowsOf = async (table: string, clientId: string) => await database.knex(table).where({ client_id: clientId });
const expectEachEndedOnce = async (clientId: string, people: number): Promise<void> => {
  const ended = await endedUsersOf(clientId);
  expect(ended).toHaveLength(people);
  expect(new Set(ended).size).toBe(people);
  expect(await rowsOf('connection_audit', clientId)).toHaveLength(people);
  expect(await rowsOf('grants', clientId)).toEqual([]);
};

test('a killed suspension cuts off all grants or none, and completes later', async () => {
  const points = await sweep('suspension', async () => {
    const big = await newApp(service, owner);
    await seedConnections(big.clientId, PEOPLE_OF_A_BIG_APP);
    const suspend = () =>
      call(`${service.url}/v1/integrations/apps/${big.clientId}`, {
        method: 'PATCH',
        token: owner.token,
        json: { active: false },
      });
    const isSettled = async () => (await rowsOf('app_suspensions', big.clientId)).length === 0;
    return {
      act: suspend,
      isSettled,
      check: async () => {
        const [record] = await rowsOf('apps', big.clientId);
        if (record.active) {
          expect(await rowsOf('app_cutoffs', big.clientId)).toEqual([]);
          expect(await endedUsersOf(big.clientId)).toEqual([]);
          expect(await rowsOf('grants', big.clientId)).toHaveLength(PEOPLE_OF_A_BIG_APP);
          expect((await suspend()).status).toBe(200);
        }
        await waitFor(isSettled);
        await expectEachEndedOnce(big.clientId, PEOPLE_OF_A_BIG_APP);
        const cutOff = (await facts()).filter(({ subject }) => subject === `$KV.revocations.app.${big.clientId}`);
        expect(cutOff).toHaveLength(1);
      },
    };
  });
  expect(points).toEqual([
    ...[...APP_IS_CUT_OFF, 'app_suspensions INSERT', 'audit_log INSERT', 'apps UPDATE', 'outbox INSERT', 'commit'],
    ...[...CONNECTIONS_END, 'commit'],
    ...[...CONNECTIONS_END, 'app_suspensions DELETE', 'commit'],
  ]);
}, 600_000);

test('a killed deletion removes the app or not, and publishes its last fact once, after the others', async () => {
  const points = await sweep('deletion', async () => {
    const small = await newApp(service, owner, { client_type: 'confidential' });
    await seedConnections(small.clientId, PEOPLE_OF_A_SMALL_APP);
    const remove = () =>
      call(`${service.url}/v1/integrations/apps/${small.clientId}`, { method: 'DELETE', token: owner.token });
    const isSettled = async () => (await rowsOf('apps', small.clientId)).length === 0;
    return {
      act: remove,
      isSettled,
      check: async () => {
        const [record] = await rowsOf('apps', small.clientId);
        if (record?.deleted_at === null) {
          expect(await rowsOf('grants', small.clientId)).toHaveLength(PEOPLE_OF_A_SMALL_APP);
          expect(await rowsOf('app_secrets', small.clientId)).toHaveLength(1);
          expect((await remove()).status).toBe(204);
        }
        await waitFor(isSettled);
        await expectEachEndedOnce(small.clientId, PEOPLE_OF_A_SMALL_APP);
        const about = (await facts()).filter(({ payload }) => payload['client_id'] === small.clientId);
        expect(about.filter(({ subject }) => subject === 'auth.app.deleted.v1')).toHaveLength(1);
        expect(about.at(-1)?.subject).toBe('auth.app.deleted.v1');
        for (const table of ['app_secrets', 'app_cutoffs', 'connections']) {
          expect(await rowsOf(table, small.clientId)).toEqual([]);
        }
      },
    };
  });
  expect(points).toEqual([
    ...['audit_log INSERT', 'apps UPDATE', 'app_secrets DELETE', ...APP_IS_CUT_OFF, 'app_suspensions INSERT', 'commit'],
    ...[...CONNECTIONS_END, 'connections DELETE', 'app_cutoffs DELETE', 'outbox INSERT'],
    // What hangs on the app's row goes with it.
    ...['apps DELETE', 'app_secrets DELETE', 'app_icons DELETE', 'app_suspensions DELETE'],
    ...['client_documents DELETE', 'pushed_requests DELETE', 'device_codes DELETE'],
    'commit',
  ]);
}, 600_000);

test('publishes every fact in the end', async () => {
  expect(sweep.kills()).toBeGreaterThanOrEqual(8 * KILLS_OF_A_SAMPLE);
  const waiting = () => database.knex('outbox').whereNull('published_at').limit(1);
  await waitFor(async () => (await waiting()).length === 0);
}, 60_000);
