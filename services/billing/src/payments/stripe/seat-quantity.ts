import { Stripe } from 'stripe';
import { isOver } from './endings.ts';
import { keySince } from './send-in-time.ts';
import { askForOne, askStripe, type StripeDeps } from './stripe-client.ts';

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
