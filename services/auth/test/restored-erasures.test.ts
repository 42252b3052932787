import { accountOperations, idTimeAt, idTimeOf, internalRoutes, LOST_TOKENS_KEY, newId } from '@svc/contracts';
import { createInternalClient } from '@svc/service-kit';
import { internalCredential, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthService, startAuthService } from './support/auth-service.ts';
import { type BillingStandIn, startBillingStandIn } from './support/billing-stand-in.ts';
import { openOperator } from './support/operator.ts';
import { newApp, newPerson } from './support/partner.ts';

const YEAR_MS = 365 * 86_400_000;
const HOUR_MS = 3_600_000;

let service: AuthService;
let billing: BillingStandIn;

beforeAll(async () => {
  billing = await startBillingStandIn();
  service = await startAuthService({ BILLING_INTERNAL_URL: billing.url });
});
afterAll(async () => {
  await service?.stop();
  await billing?.stop();
});

const erasedFacts = async () =>
  (await service.outbox())
    .filter(({ subject }) => subject === 'auth.account.erased.v1')
    .map(({ payload }) => payload['svc_user_id']);

describe('a restored database', () => {
  test('erases again the accounts whose erasure billing remembers, and keeps all others', async () => {
    const people = [await newPerson(service, 'business'), await newPerson(service), await newPerson(service)];
    const kept = await newPerson(service);
    const [owner] = people;
    if (owner !== undefined) await newApp(service, owner);
    // Some accounts are younger than the moment, so the restored database does not know them.
    billing.erased = [...people.map(({ userId }) => userId), newId('usr'), newId('usr')];
    expect(await service.application.afterRestore(new Date(service.clock().getTime() - HOUR_MS), service.clock())).toBe(
      3,
    );
    const left = () => service.database('accounts').pluck('id');
    await waitFor(async () => (await left()).length === 1);
    expect(await left()).toEqual([kept.userId]);
    expect((await erasedFacts()).toSorted()).toEqual(people.map(({ userId }) => userId).toSorted());
    expect(await service.application.afterRestore(new Date(0), service.clock())).toBe(0);
  });

  test('of another service gets the facts of erasures since the moment again', async () => {
    const now = service.clock().getTime();
    const ids = Array.from({ length: 600 }, () => newId('usr'));
    const rows = ids.map((user_id) => ({ user_id, erased_at: new Date(now - 30 * 24 * HOUR_MS) }));
    await service.database('erased_accounts').delete();
    await service.database('erased_accounts').insert(rows);
    await service.database('erased_accounts').insert({ user_id: newId('usr'), erased_at: new Date(0) });
    await service.database('outbox').where({ subject: 'auth.account.erased.v1' }).delete();
    const since = new Date(now - 31 * 24 * HOUR_MS).toISOString();
    const operator = openOperator(service, 'ada');
    const answer = await operator.call(accountOperations.announceErasures, { body: { since } });
    await operator.close();
    expect(answer.body).toEqual({ announced: 600 });
    expect((await erasedFacts()).toSorted()).toEqual(ids.toSorted());
  });

  test('is not restored by auth while billing does not respond', async () => {
    billing.isDown = true;
    await expect(service.application.afterRestore(new Date(0), service.clock())).rejects.toMatchObject({
      code: 'service_unavailable',
    });
    billing.isDown = false;
  });

  test('ends the tokens of sessions and grants that it does not know, and spares those begun since the restore', async () => {
    const lostTokens = async () =>
      (await service.outbox()).filter(({ subject }) => subject.includes('.lost.')).map(({ payload }) => payload);
    await service.database('outbox').delete();
    await service.database('console_sessions').delete();
    const beganAt = service.clock();
    const restoredTo = new Date(beganAt.getTime() - HOUR_MS);
    billing.erased = [];
    await service.application.afterRestore(restoredTo, beganAt);
    const from = idTimeAt(restoredTo.getTime());
    expect(await lostTokens()).toEqual([{ revoked_through: `${from}-${idTimeAt(beganAt.getTime())}` }]);
    await newPerson(service);
    const { id } = await service.database('console_sessions').first('id');
    // Ids never go back in time: those of this process follow those of other tests, whose clocks may be ahead.
    await service.application.afterRestore(restoredTo, new Date(beganAt.getTime() + YEAR_MS));
    expect((await lostTokens()).at(-1)).toEqual({ revoked_through: `${from}-${idTimeOf(id)}` });
    const client = createInternalClient({
      baseUrl: service.internalUrl,
      token: internalCredential('billing'),
      timeoutMs: 5_000,
    });
    const { body } = await client.call(internalRoutes.lookUpRevocations, { body: { keys: [LOST_TOKENS_KEY] } });
    await client.close();
    expect(body.data.map(({ key, revoked_through }) => key === `lost.${revoked_through}`)).toEqual([true, true]);
  });
});
