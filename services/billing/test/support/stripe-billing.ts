import { newId } from '@svc/contracts';
import { RETURNS, type TestBilling, testBilling } from './billing.ts';

/**
 * Starts the service with the keys of a Stripe account whose events tests deliver themselves. Returns helpers that act as
 * customers and as Stripe.
 */
export const stripeBilling = async (settings: Record<string, string> = {}) => {
  const billing = await testBilling({ PAYMENTS: 'stripe', ...settings });
  const { stripe } = billing;
  return {
    stripe,
    billing,
    ...actionsOf(billing),
    /** Resets the stand-in's calls, faults and hooks. */
    reset: () => stripe.reset(),
    stop: () => billing.stop(),
  };
};

const actionsOf = (billing: TestBilling) => {
  const { stripe } = billing;
  const signIn = async (userId = newId('usr')) => ({ userId, token: await billing.tokens.consoleSession({ userId }) });
  const checkout = (token: string, plan_id = 'basic') =>
    billing.call('POST', '/v1/subscriptions/checkout', { token, json: { plan_id, ...RETURNS } });
  const confirm = (token: string, session_id: string) =>
    billing.call('POST', '/v1/subscriptions/checkout/confirm', { token, json: { session_id } });
  const current = async (token: string) =>
    (await billing.call('GET', '/v1/subscriptions', { token })).body.subscription;
  const stripeSessionOf = (sessionId: string) =>
    String(stripe.list('checkout.session').find((session) => session.client_reference_id === sessionId)?.id);
  const pay = (sessionId: string) => stripe.pay(stripeSessionOf(sessionId), new Date());
  const deliver = async (event: object, signature?: string) => {
    const body = JSON.stringify(event);
    const response = await fetch(`${billing.publicUrl}/v1/payments/stripe/events`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', 'stripe-signature': signature ?? stripe.sign(body) },
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const subscribe = async (plan = 'basic') => {
    const owner = await signIn();
    const id = (await checkout(owner.token, plan)).body.session_id;
    const stripeId = String(pay(id)['subscription']);
    const { body } = await confirm(owner.token, id);
    return { ...owner, sessionId: id, stripeId, subscription: body.subscription };
  };
  const factsOf = (userId: string) =>
    billing
      .db('outbox')
      .where({ aggregate: `subscription:${userId}` })
      .orderBy('seq')
      .pluck('payload');
  return { signIn, checkout, confirm, current, stripeSessionOf, pay, deliver, subscribe, factsOf };
};
