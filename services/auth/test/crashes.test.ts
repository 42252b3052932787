import { newId } from '@svc/contracts';
import { waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { stepOf } from './support/background-work.ts';
import { call, textAt } from './support/http.ts';
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

let service: AuthService;
let owner: Person;
let app: RegisteredApp;

beforeAll(async () => {
  service = await startAuthService();
  owner = await newPerson(service, 'business');
  app = await newApp(service, owner);
});
afterAll(() => service.stop());

/** Makes the next write of this kind fail as if the process had died there, for as long as `work` takes. */
const failingAt = async <T>(
  table: string,
  operation: 'INSERT' | 'UPDATE' | 'DELETE',
  work: () => Promise<T>,
): Promise<T> => {
  await service.database.raw(`
    CREATE OR REPLACE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'died here'; END $$;
    CREATE TRIGGER die BEFORE ${operation} ON ${table} FOR EACH ROW EXECUTE FUNCTION die();
  `);
  try {
    return await work();
  } finally {
    await service.database.raw(`DROP TRIGGER die ON ${table}`);
  }
};

/** Ends the connections that wait for this table, as a server that goes away does, while `work` is under way. */
const losingReadersOf = async <T>(table: string, work: () => Promise<T>): Promise<T> => {
  const trx = await service.database.transaction();
  try {
    await trx.raw('LOCK TABLE ?? IN ACCESS EXCLUSIVE MODE', [table]);
    const working = work();
    await waitFor(async () => {
      const { rows } = await service.database.raw(
        `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE relation = ?::regclass AND NOT granted`,
        [table],
      );
      return rows.length > 0;
    });
    return await working;
  } finally {
    await trx.rollback();
  }
};

/** Every row that belongs to a person's connection, so that two looks can be compared. */
const everythingOf = async (userId: string) => ({
  connections: await service.database('connections').where({ user_id: userId }),
  grants: await service.database('grants').where({ user_id: userId }),
  codes: await service
    .database('authorization_codes')
    .whereIn('grant_id', service.database('grants').where({ user_id: userId }).select('id')),
  tokens: await service
    .database('refresh_tokens')
    .whereIn('grant_id', service.database('grants').where({ user_id: userId }).select('id')),
  facts: await service.outbox(`connection:${userId}:${app.clientId}`),
});

describe('a crash between any two writes leaves all or nothing', () => {
  test.each([
    ['connections', 'INSERT'],
    ['grants', 'INSERT'],
    ['outbox', 'INSERT'],
    ['authorization_codes', 'INSERT'],
  ] as const)('of a consent, at %s %s', async (table, operation) => {
    const person = await newPerson(service);
    const before = await everythingOf(person.userId);
    const answer = await failingAt(table, operation, () =>
      call(`${service.url}/v1/integrations/oauth/authorize`, {
        token: person.token,
        json: consentRequest(app, newVerifier()),
      }),
    );
    expect(answer).toMatchObject({ status: 500, body: { detail: { code: 'internal_error' } } });
    expect(answer.text).not.toContain('died');
    expect(await everythingOf(person.userId)).toEqual(before);
    await connect(service, { app, person });
  });

  test.each([
    ['grants', 'UPDATE'],
    ['authorization_codes', 'UPDATE'],
    ['refresh_tokens', 'INSERT'],
  ] as const)('of an exchange, at %s %s: the code can be redeemed afterwards', async (table, operation) => {
    const person = await newPerson(service);
    const verifier = newVerifier();
    const code = await approve(service, { app, person, verifier });
    const before = await everythingOf(person.userId);
    const answer = await failingAt(table, operation, () => redeem(service, { app, code, verifier }));
    expect(answer).toMatchObject({ status: 500, body: { error: 'server_error' } });
    expect(answer.text).not.toContain('died');
    expect(await everythingOf(person.userId)).toEqual(before);
    expect((await redeem(service, { app, code, verifier })).status).toBe(200);
  });

  test.each([
    ['grants', 'UPDATE'],
    ['refresh_tokens', 'UPDATE'],
  ] as const)('of a refresh, at %s %s: the token can be used afterwards', async (table, operation) => {
    const person = await newPerson(service);
    const strict = await newApp(service, owner, { refresh_grace_seconds: 0 });
    const { refreshToken } = await connect(service, { app: strict, person });
    const answer = await failingAt(table, operation, () => refresh(service, { app: strict, token: refreshToken }));
    expect(answer.status).toBe(500);
    expect((await refresh(service, { app: strict, token: refreshToken })).status).toBe(200);
  });

  test.each(['authorization_codes', 'refresh_tokens'])(
    'of the database while %s are read returns 503, and the credential stays valid',
    async (table) => {
      const person = await newPerson(service);
      const verifier = newVerifier();
      const code = await approve(service, { app, person, verifier });
      const { refreshToken } = await connect(service, { app, person: await newPerson(service) });
      const present = () =>
        table === 'refresh_tokens'
          ? refresh(service, { app, token: refreshToken })
          : redeem(service, { app, code, verifier });
      const answer = await losingReadersOf(table, present);
      expect(answer).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
      // Other connections of the pool may have been lost too.
      const later = await waitFor(async () => {
        const again = await present();
        return again.status !== 503 && again;
      });
      expect(later.status).toBe(200);
    },
  );

  test('of a replay at its revocation: the next presentation is still a replay', async () => {
    const person = await newPerson(service);
    const { code, verifier, refreshToken, grantId } = await connect(service, { app, person });
    const answer = await failingAt('outbox', 'INSERT', () => redeem(service, { app, code, verifier }));
    expect(answer.status).toBe(500);
    expect(await service.database('grants').where({ id: grantId })).toHaveLength(1);
    expect((await redeem(service, { app, code, verifier })).status).toBe(400);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(400);
  });

  test.each(['connections UPDATE', 'grants DELETE', 'outbox INSERT'])('of a disconnect, at %s', async (write) => {
    const [table = '', operation = ''] = write.split(' ');
    const person = await newPerson(service);
    const { refreshToken } = await connect(service, { app, person });
    const before = await everythingOf(person.userId);
    const disconnect = () =>
      call(`${service.url}/v1/integrations/connections/${app.clientId}`, { method: 'DELETE', token: person.token });
    // The three names above are operations.
    expect((await failingAt(table, operation as 'UPDATE', disconnect)).status).toBe(500);
    expect(await everythingOf(person.userId)).toEqual(before);
    expect((await refresh(service, { app, token: refreshToken })).status).toBe(200);
    expect((await disconnect()).status).toBe(204);
  });
});

describe('suspending an app with many connections', () => {
  const PEOPLE = 1_700;

  /** Connections without the cost of consenting to each. */
  const seedConnections = async (clientId: string): Promise<string[]> => {
    const userIds = Array.from({ length: PEOPLE }, () => newId('usr'));
    const now = new Date();
    await service.database.batchInsert(
      'accounts',
      userIds.map((id) => ({
        id,
        email: `${id}@example.com`,
        password_hash: 'x',
        account_type: 'personal',
        locale: 'it',
        created_at: now,
      })),
    );
    const rows = userIds.map((userId) => ({ userId, grantId: newId('grt') }));
    await service.database.batchInsert(
      'connections',
      rows.map(({ userId, grantId }) => ({
        user_id: userId,
        client_id: clientId,
        scope: 'inference',
        connected_at: now,
        last_grant_id: grantId,
        version: 1,
      })),
    );
    await service.database.batchInsert(
      'grants',
      rows.map(({ userId, grantId }) => ({
        id: grantId,
        user_id: userId,
        client_id: clientId,
        scope: 'inference',
        created_at: now,
        expires_at: new Date(now.getTime() + 1e9),
      })),
    );
    return userIds;
  };
  const left = (clientId: string) => service.database('connections').where({ client_id: clientId, ended_at: null });
  const ended = async (clientId: string): Promise<{ svc_user_id: string; version: number }[]> =>
    (await service.outbox())
      .filter(({ subject, payload }) => subject === 'auth.app.disconnected.v1' && payload['client_id'] === clientId)
      // As the contract says, which the outbox has checked.
      .flatMap(({ payload }) => payload['connections'] as { svc_user_id: string; version: number }[]);
  const patch = (clientId: string, active: boolean) =>
    call(`${service.url}/v1/integrations/apps/${clientId}`, { method: 'PATCH', token: owner.token, json: { active } });

  test('cuts off all of them at once, then publishes the end of each once', async () => {
    const suspended = await newApp(service, owner);
    const userIds = await seedConnections(suspended.clientId);
    const answer = await patch(suspended.clientId, false);
    expect(answer).toMatchObject({ status: 200, body: { active: false, connections_count: 0 } });
    const cutoff = await service.database('app_cutoffs').where({ client_id: suspended.clientId }).first();
    expect(await service.outbox(`revocation:app.${suspended.clientId}`)).toEqual([
      expect.objectContaining({
        subject: `$KV.revocations.app.${suspended.clientId}`,
        payload: { revoked_through: cutoff.revoked_through },
      }),
    ]);
    await waitFor(async () => (await left(suspended.clientId)).length === 0);
    const told = await ended(suspended.clientId);
    expect(new Set(told.map(({ svc_user_id }) => svc_user_id))).toEqual(new Set(userIds));
    expect(told).toHaveLength(PEOPLE);
    expect(told.every(({ version }) => version === 2)).toBe(true);
    expect(await service.database('grants').where({ client_id: suspended.clientId })).toEqual([]);
    await waitFor(
      async () => (await service.database('app_suspensions').where({ client_id: suspended.clientId })).length === 0,
    );
  });

  test('resumes after a crash in the middle of a batch without repeating anything', async () => {
    await service.application.stop();
    const suspended = await newApp(service, owner);
    await seedConnections(suspended.clientId);
    await patch(suspended.clientId, false);
    const step = stepOf(service);
    expect(await step()).toBe(true);
    const remaining = (await left(suspended.clientId)).length;
    expect(remaining).toBe(PEOPLE - 500);
    await failingAt('outbox', 'INSERT', step);
    expect(await left(suspended.clientId)).toHaveLength(remaining);
    // Two replicas at one time take turns. The one that failed would wait before it tries again.
    const one = stepOf(service);
    const other = stepOf(service);
    while ((await Promise.all([one(), other()])).includes(true));
    expect(await left(suspended.clientId)).toEqual([]);
    expect(await ended(suspended.clientId)).toHaveLength(PEOPLE);
  });

  test('keeps a user connected who consents again after the activation, with facts in order', async () => {
    const suspended = await newApp(service, owner);
    const person = await newPerson(service);
    await connect(service, { app: suspended, person });
    await patch(suspended.clientId, false);
    await patch(suspended.clientId, true);
    const { refreshToken } = await connect(service, { app: suspended, person });
    const step = stepOf(service);
    while (await step());
    expect((await refresh(service, { app: suspended, token: refreshToken })).status).toBe(200);
    const facts = await service.outbox(`connection:${person.userId}:${suspended.clientId}`);
    expect(facts.map(({ subject, version }) => [subject, version])).toEqual([
      ['auth.connection.created.v1', 1],
      ['auth.connection.revoked.v1', 2],
      ['auth.connection.created.v1', 3],
    ]);
  });

  test('ends with the app if it is deleted while its suspension is being finished', async () => {
    await service.application.stop();
    const doomed = await newApp(service, owner);
    await patch(doomed.clientId, false);
    // The step waits before it deletes the finished suspension.
    await service.database.raw(`
      CREATE FUNCTION wait_before_end() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock(7); RETURN OLD; END $$;
      CREATE TRIGGER wait_before_end BEFORE DELETE ON app_suspensions FOR EACH ROW EXECUTE FUNCTION wait_before_end()`);
    const gate = await service.database.transaction();
    await gate.raw('SELECT pg_advisory_xact_lock(7)');
    const waiting = async (): Promise<number> =>
      (await gate.raw(`SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`))
        .rowCount;
    const step = stepOf(service);
    const finishing = step();
    await waitFor(async () => (await waiting()) === 1);
    let isDeleted = false;
    const path = `${service.url}/v1/integrations/apps/${doomed.clientId}`;
    const deletion = call(path, { method: 'DELETE', token: owner.token }).finally(() => {
      isDeleted = true;
    });
    await waitFor(async () => isDeleted || (await waiting()) === 2);
    await gate.rollback();
    await Promise.all([finishing, deletion]);
    await service.database.raw('DROP FUNCTION wait_before_end CASCADE');
    while (await step());
    expect(await service.database('apps').where({ client_id: doomed.clientId })).toEqual([]);
  });

  test('a deletion ends the connections first, then publishes its own fact', async () => {
    const doomed = await newApp(service, owner, { client_type: 'confidential' });
    const person = await newPerson(service);
    await connect(service, { app: doomed, person });
    await call(`${service.url}/v1/integrations/apps/${doomed.clientId}`, { method: 'DELETE', token: owner.token });
    const step = stepOf(service);
    while (await step());
    const subjects = (await service.outbox()).filter(
      ({ payload, aggregate }) => payload['client_id'] === doomed.clientId || aggregate.endsWith(doomed.clientId),
    );
    expect(subjects.map(({ subject }) => subject.replace(doomed.clientId, 'app'))).toEqual([
      'auth.app.registered.v1',
      'auth.connection.created.v1',
      '$KV.revocations.app.app',
      'auth.app.disconnected.v1',
      'auth.app.deleted.v1',
    ]);
    expect(subjects.at(-1)).toMatchObject({ version: 2, payload: { active: false } });
    for (const table of ['apps', 'app_secrets', 'app_suspensions', 'app_cutoffs', 'connections', 'grants']) {
      expect(await service.database(table).where({ client_id: doomed.clientId })).toEqual([]);
    }
  });

  test('a new grant of a reactivated app always sorts after the cutoff', async () => {
    const suspended = await newApp(service, owner);
    const person = await newPerson(service);
    // A replica whose clock is an hour ahead has made this grant.
    service.clock.advanceMs(3_600_000);
    const { grantId } = await connect(service, { app: suspended, person });
    service.clock.advanceMs(-3_600_000);
    await patch(suspended.clientId, false);
    const cutoff = await service.database('app_cutoffs').where({ client_id: suspended.clientId }).first();
    expect(cutoff.revoked_through >= grantId).toBe(true);
    await patch(suspended.clientId, true);
    const again = await connect(service, { app: suspended, person: await newPerson(service) });
    expect(again.grantId > cutoff.revoked_through).toBe(true);
    expect((await refresh(service, { app: suspended, token: again.refreshToken })).status).toBe(200);
    expect(textAt(await refresh(service, { app: suspended, token: again.refreshToken }), 'scope')).toBe(
      'inference usage:read',
    );
  });
});
