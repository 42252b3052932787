import { newId } from '@svc/contracts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RETURNS, SESSION_ID, type TestBilling, testBilling } from './support/billing.ts';

let billing: TestBilling;
beforeAll(async () => {
  billing = await testBilling();
});
afterAll(() => billing.stop());

const checkout = async (token: string, planId = 'basic') =>
  billing.call('POST', '/v1/subscriptions/checkout', { token, json: { plan_id: planId, ...RETURNS } });
const confirm = (token: string, sessionId: string) =>
  billing.call('POST', '/v1/subscriptions/checkout/confirm', { token, json: { session_id: sessionId } });

describe('buying a subscription', () => {
  it('goes from checkout over payment to confirmation, and confirming again answers the same', async () => {
    const userId = newId('usr');
    const token = await billing.tokens.consoleSession({ userId });
    expect((await billing.call('GET', '/v1/subscriptions', { token })).body).toEqual({ subscription: null });
    const started = await checkout(token);
    expect(started.status).toBe(200);
    expect(started.body.session_id).toMatch(SESSION_ID);
    const id = started.body.session_id;
    expect((await confirm(token, id)).body.detail.code).toBe('checkout_not_completed');
    const paid = await billing.call('POST', `/sandbox/payments/sessions/${id}/complete`);
    expect([paid.status, paid.body]).toEqual([200, { session_id: id, status: 'complete' }]);
    const confirmed = await confirm(token, id);
    expect(confirmed.status).toBe(200);
    expect(confirmed.body.subscription).toMatchObject({
      status: 'active',
      plan: { id: 'basic', name: 'Basic' },
      revision: 1,
    });
    expect((await confirm(token, id)).body).toEqual(confirmed.body);
    expect((await billing.call('GET', '/v1/subscriptions', { token })).body).toEqual(confirmed.body);
  });
});
