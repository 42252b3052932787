import type { SandboxCard } from '@svc/contracts';
import type { Account, ChargeOutcome } from './account.ts';
import { CardError, Refusal } from './account.ts';
import { cardOf } from './cards.ts';
import type { Fields, PaymentIntent, Refund } from './objects.ts';

/** Outcome of a charge of a saved card without its holder. */
const OUTCOMES: Readonly<Record<SandboxCard, ChargeOutcome>> = {
  succeeds: 'succeeded',
  asks_to_confirm: 'authentication_required',
  declines_renewals: 'card_declined',
  declines: 'card_declined',
};

/** Makes a payment at a hosted page. */
export const receivePayment = (
  { objects, raise }: Account,
  order: { readonly customer: string; readonly amount: number; readonly currency: string },
): PaymentIntent => {
  const payment = objects.put('payment_intent', 'pi', {
    ...order,
    amount_received: order.amount,
    status: 'succeeded',
    last_payment_error: null,
    metadata: {},
  });
  raise('payment_intent.succeeded', payment);
  return payment;
};

/** Charges a saved card without its holder. A declined payment is stored too. Throws CardError and Refusal. */
export const chargeSaved = async (account: Account, params: Fields): Promise<Fields> => {
  const { objects, misbehavior, raise } = account;
  const method = objects.of('payment_method', String(params['payment_method']));
  if (method === undefined) throw new Refusal('resource_missing', 'payment_method');
  if (method.type !== 'card') throw new Refusal('payment_method_not_allowed', 'payment_method');
  const outcome = misbehavior.charges ?? OUTCOMES[cardOf(method)];
  const isAccepted = outcome === 'succeeded' || outcome === 'processing';
  const amount = Number(params['amount']);
  const payment = objects.put('payment_intent', 'pi', {
    ...params,
    amount,
    amount_received: outcome === 'succeeded' ? amount : 0,
    status: isAccepted ? outcome : 'requires_payment_method',
    last_payment_error: isAccepted ? null : { type: 'card_error', code: outcome },
  });
  if (outcome === 'succeeded') raise('payment_intent.succeeded', payment);
  await misbehavior.onCharged();
  if (!isAccepted) throw new CardError(outcome, payment);
  return payment;
};

/** Cancels a payment that was declined. Throws Refusal for any other. */
export const cancelPayment = ({ objects }: Account, id: string): Fields | undefined => {
  const payment = objects.of('payment_intent', id);
  if (payment === undefined) return undefined;
  if (payment.status !== 'requires_payment_method') throw new Refusal('payment_intent_unexpected_state');
  objects.update(id, { status: 'canceled' });
  return objects.get(id);
};

/** Refunds an amount, or what is left of the payment. Throws Refusal if less is left. */
export const refund = (account: Account, params: Fields): Refund => {
  const { objects, misbehavior, raise } = account;
  if (misbehavior.refuseRefunds) throw new Refusal('charge_disputed');
  const payment = objects.of('payment_intent', String(params['payment_intent']));
  if (payment === undefined) throw new Refusal('resource_missing', 'payment_intent');
  const rest = restOf(account, payment);
  const amount = params['amount'] === undefined ? rest : Number(params['amount']);
  if (rest === 0) throw new Refusal('charge_already_refunded');
  if (amount > rest) throw new Refusal('amount_too_large', 'amount');
  const { currency, customer } = payment;
  const made = objects.put('refund', 're', {
    ...params,
    metadata: params['metadata'] ?? {},
    amount,
    currency,
    customer,
    status: 'succeeded',
  });
  raise('refund.created', made);
  return made;
};

/** States of a dispute in which it takes the payment. Inquiries, whose states begin with `warning`, take nothing. */
const TAKEN: ReadonlySet<string> = new Set(['needs_response', 'under_review', 'lost']);

/** Returns the amount of a payment that no refund and no dispute has taken. */
export const restOf = ({ objects }: Account, { id, amount }: PaymentIntent): number =>
  [
    ...objects.list('refund').filter(({ status }) => status !== 'failed' && status !== 'canceled'),
    ...objects.list('dispute').filter(({ status }) => TAKEN.has(status)),
  ]
    .filter(({ payment_intent }) => payment_intent === id)
    .reduce((rest, taken) => rest - taken.amount, amount);
