import { Stripe } from 'stripe';
import { deleteCustomer, findCustomerId } from './customers.ts';
import { askForOne, askStripe, keySince, type StripeDeps } from './stripe-client.ts';

/** Returns true for a subscription that nothing can bring back. */
const isOver = ({ status }: Stripe.Subscription): boolean => status === 'canceled' || status === 'incomplete_expired';

/** Ends a subscription with its period, or resumes it. Setting the same value again changes nothing. */
export const setCancelAtPeriodEnd = async (
  { stripe }: StripeDeps,
  id: string,
  cancelAtPeriodEnd: boolean,
): Promise<void> => {
  const subscription = await askForOne(() => stripe.subscriptions.retrieve(id));
  if (subscription === undefined || isOver(subscription)) return;
  await askForOne(() => stripe.subscriptions.update(id, { cancel_at_period_end: cancelAtPeriodEnd }));
};

export const endSubscription = async ({ stripe }: StripeDeps, id: string): Promise<void> => {
  const subscription = await askForOne(() => stripe.subscriptions.retrieve(id));
  if (subscription === undefined || isOver(subscription)) return;
  await askForOne(() => stripe.subscriptions.cancel(id, {}, { idempotencyKey: `end-${id}` }));
};

/** Deletes the customer at Stripe, with address and payment methods. Stripe keeps payments and invoices. */
export const forgetCustomer = async ({ database, stripe }: StripeDeps, userId: string): Promise<void> => {
  const customerId = await findCustomerId(database, userId);
  if (customerId === undefined) return;
  await askForOne(() => stripe.customers.del(customerId));
  await deleteCustomer(database, userId);
};

/**
 * Sets the quantity of a subscription to seats, or ends it with 0. More seats are paid at once, for the rest of the period; fewer
 * are credited to the next invoice. Setting the same quantity again changes nothing. Returns `refused` if Stripe or the card
 * refuses the change, which then has no effect.
 */
export const setQuantity = async (
  { stripe, clock }: Pick<StripeDeps, 'stripe' | 'clock'>,
  id: string,
  { quantity, key }: { readonly quantity: number; readonly key: string },
): Promise<'done' | 'refused'> => {
  const idempotencyKey = keySince(key, clock());
  const subscription = await askForOne(() => stripe.subscriptions.retrieve(id));
  const [item] = subscription?.items.data ?? [];
  if (subscription === undefined || item === undefined || isOver(subscription)) return 'done';
  const present = item.quantity ?? 1;
  if (present === quantity) return 'done';
  const change = (): Promise<unknown> =>
    quantity === 0
      ? stripe.subscriptions.cancel(id, { prorate: true, invoice_now: true }, { idempotencyKey })
      : stripe.subscriptions.update(
          id,
          {
            items: [{ id: item.id, quantity }],
            ...(quantity > present
              ? { proration_behavior: 'always_invoice', payment_behavior: 'error_if_incomplete' }
              : { proration_behavior: 'create_prorations' }),
          },
          { idempotencyKey },
        );
  try {
    await askStripe(change);
    return 'done';
  } catch (error) {
    const isRefused =
      error instanceof Stripe.errors.StripeCardError || error instanceof Stripe.errors.StripeInvalidRequestError;
    if (isRefused) return 'refused';
    throw error;
  }
};
