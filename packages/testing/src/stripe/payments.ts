import type { Fields, StripeObjects } from './stripe-objects.ts';

/** Outcome of payments without the customer: a status, or the code of a card error. */
export type ChargeOutcome = 'succeeded' | 'processing' | 'card_declined' | 'authentication_required';

/** A declined payment. */
export class CardError extends Error {
  readonly payment: Fields;
  constructor(code: string, payment: Fields) {
    super(code);
    this.payment = payment;
  }
}

/** Makes a payment, which is stored even if it is declined. */
export const makePayment = (objects: StripeObjects, params: Fields, outcome: ChargeOutcome): Fields => {
  const isPaid = isAccepted(outcome);
  const amount = Number(params['amount']);
  return objects.put('payment_intent', 'pi', {
    ...params,
    amount,
    amount_received: outcome === 'succeeded' ? amount : 0,
    status: isPaid ? outcome : 'requires_payment_method',
    created: Math.floor(Date.now() / 1000),
    last_payment_error: isPaid ? null : { type: 'card_error', code: outcome },
  });
};

export const isAccepted = (outcome: ChargeOutcome): boolean => outcome === 'succeeded' || outcome === 'processing';

export const cancelPayment = (objects: StripeObjects, id: string): Fields | Error => {
  const payment = objects.get(id);
  if (payment['status'] !== 'requires_payment_method') return new Error('payment_intent_unexpected_state');
  return structuredClone(Object.assign(payment, { status: 'canceled' }));
};

/** Refunds an amount, or what is left of the payment. */
export const refund = (objects: StripeObjects, params: Fields): Fields | Error => {
  const earlier = objects.list('refund').filter(({ payment_intent }) => payment_intent === params['payment_intent']);
  if (earlier.some(({ amount }) => amount === null)) return new Error('charge_already_refunded');
  return objects.put('refund', 're', { ...params, amount: params['amount'] ?? null, status: 'succeeded' });
};
