import fixtures from './stripe-fixtures.json' with { type: 'json' };
import type { Fields, StripeObjects } from './stripe-objects.ts';

const MONTH_SECONDS = 31 * 86_400;
/** Prices of the plans in `plans.yaml`, in cents. */
const PRICES: Readonly<Record<string, number>> = {
  price_of_basic: 500,
  price_of_full: 2_000,
  price_of_yearly: 20_000,
};

/** Creates a checkout session for the first line of a request. */
export const makeSession = (objects: StripeObjects, params: Fields): Fields => {
  const lines = params['line_items'];
  const [line] = Array.isArray(lines) ? lines : [];
  const [price] = Array.isArray(lines) ? lines.map(priceOf) : [];
  const session = objects.put('checkout.session', 'cs_test', {
    status: 'open',
    payment_status: 'unpaid',
    mode: params['mode'],
    customer: params['customer'],
    client_reference_id: params['client_reference_id'],
    subscription: null,
    price: line?.price,
    amount_subtotal: price?.amount,
    amount_total: price?.amount,
    currency: price?.currency,
    metadata: params['metadata'],
    subscription_metadata: Object(params['subscription_data'])['metadata'],
  });
  session['url'] = `https://checkout.stripe.test/${String(session['id'])}`;
  return session;
};

/** Pays a session as its customer would. Creates the subscription, if it is for one. */
export const paySession = (objects: StripeObjects, sessionId: string, at: Date): Fields => {
  const session = objects.get(sessionId);
  const intent = objects.newId('pi');
  objects.update(sessionId, { status: 'complete', payment_status: 'paid' });
  objects.put('payment_method', 'pm', { type: 'card', customer: session['customer'] });
  if (session['mode'] !== 'subscription') {
    objects.update(sessionId, { payment_intent: intent });
    return session;
  }
  const subscription = makeSubscription(objects, session, Math.floor(at.getTime() / 1000));
  const payment = { type: 'payment_intent', payment_intent: intent };
  const invoice = objects.put('invoice', 'in', {
    payments: { object: 'list', data: [{ ...fixtures.invoice_payment, status: 'paid', payment }] },
    parent: { type: 'subscription_details', subscription_details: { subscription: subscription['id'] } },
  });
  objects.update(String(subscription['id']), { latest_invoice: invoice['id'] });
  objects.update(sessionId, { subscription: subscription['id'] });
  return session;
};

const makeSubscription = (objects: StripeObjects, session: Fields, started: number): Fields => {
  const [item] = fixtures.subscription.items.data;
  const price = { ...item?.price, id: session['price'], product: `prod_of_${session['price']}` };
  const bought = {
    ...item,
    id: objects.newId('si'),
    price,
    current_period_start: started,
    current_period_end: started + MONTH_SECONDS,
  };
  return objects.put('subscription', 'sub', {
    customer: session['customer'],
    status: 'active',
    billing_cycle_anchor: started,
    cancel_at: null,
    cancel_at_period_end: false,
    ended_at: null,
    metadata: session['subscription_metadata'],
    items: { object: 'list', data: [bought] },
  });
};

const priceOf = (line: { price?: string; price_data?: { unit_amount?: string; currency?: string } }) => ({
  amount: line.price === undefined ? Number(line.price_data?.unit_amount) : (PRICES[line.price] ?? null),
  currency: line.price === undefined ? line.price_data?.currency : 'eur',
});
