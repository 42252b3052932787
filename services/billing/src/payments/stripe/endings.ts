import type { Stripe } from 'stripe';
import { deleteCustomer, findCustomerId } from './queries.ts';
import { askForOne, type StripeDeps } from './stripe-client.ts';

/** Returns true for a subscription that nothing can bring back. */
export const isOver = ({ status }: Stripe.Subscription): boolean =>
  status === 'canceled' || status === 'incomplete_expired';

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
