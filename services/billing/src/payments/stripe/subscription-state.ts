import { type SubscriptionStatus, subscriptionStatusSchema } from '@svc/contracts';
import type { Knex } from 'knex';
import type { Stripe } from 'stripe';
import { z } from 'zod';
import { UnreadableObject } from '../../jobs.ts';
import { findPlanById, findPlanIdByStripe, upsertStripeProduct } from '../../plans.ts';
import { findSubscriptionByProvider, type ProviderSubscription } from '../../subscriptions/index.ts';
import { findUserByCustomer } from './customers.ts';
import { askForOne, referenceSchema, type StripeDeps } from './stripe-client.ts';

/** Paid states, which require a known plan. In any other state the previous plan is good enough. */
const PAID: ReadonlySet<SubscriptionStatus> = new Set(['active', 'trialing']);
/** Keys in the metadata of a subscription: our ids of its checkout session, and of the subscription itself. */
export const SESSION_KEY = 'svc_session_id';
export const SUBSCRIPTION_KEY = 'svc_subscription_id';
/** Key in the metadata of a subscription that pays seats for members of an organization. */
export const SEATS_KEY = 'svc_seats';
/** Key in the metadata of a price, by which an operator names the plan of a price made in the dashboard. */
const PLAN_KEY = 'svc_plan_id';

const secondsSchema = z.int().transform((seconds) => new Date(seconds * 1000));
const metadataSchema = z.record(z.string(), z.string()).nullish();
const itemSchema = z.object({
  quantity: z.int().min(0).nullish(),
  price: z.object({ id: z.string(), product: referenceSchema.nullish(), metadata: metadataSchema }),
  current_period_start: secondsSchema,
  current_period_end: secondsSchema,
});
type Item = z.infer<typeof itemSchema>;

/** The members that billing reads. Others may be absent, expanded or of another API version. */
const subscriptionSchema = z.object({
  status: z.string(),
  items: z.object({ data: z.array(itemSchema).min(1) }),
  billing_cycle_anchor: secondsSchema,
  cancel_at_period_end: z.boolean().nullish(),
  cancel_at: secondsSchema.nullish(),
  ended_at: secondsSchema.nullish(),
});

/** A subscription as Stripe reports it, with the id of the checkout session that started it, if known. */
export interface HostedSubscription extends ProviderSubscription {
  readonly sessionId: string | null;
}

/** Reads a subscription; undefined if Stripe does not know it, or if it belongs to no account of this deployment. */
export const readSubscription = async (
  { database, stripe }: StripeDeps,
  id: string,
): Promise<HostedSubscription | undefined> => {
  const subscription = await askForOne(() => stripe.subscriptions.retrieve(id));
  if (subscription === undefined) return undefined;
  const state = await toSubscriptionState(database, subscription);
  return state === undefined ? undefined : { ...state, sessionId: subscription.metadata?.[SESSION_KEY] ?? null };
};

/**
 * Maps a Stripe subscription to a provider state; undefined if it belongs to no account of this deployment. Since API
 * version 2025-03-31 the period is on the item, and a scheduled end may be in `cancel_at` alone. Throws UnreadableObject
 * for one whose shape, status or price is not known.
 */
export const toSubscriptionState = async (
  database: Knex,
  subscription: Stripe.Subscription,
): Promise<ProviderSubscription | undefined> => {
  const { id } = subscription;
  const userId = await findUser(database, subscription);
  if (userId === undefined) return undefined;
  const read = subscriptionSchema.safeParse(subscription);
  if (!read.success) {
    const members = read.error.issues.map(({ path }) => path.join('.')).join(', ');
    throw new UnreadableObject('shape', `the subscription ${id} cannot be read: ${members}`);
  }
  const { items, cancel_at: cancelAt } = read.data;
  const status = subscriptionStatusSchema.safeParse(read.data.status);
  if (!status.success) throw new UnreadableObject('status', `the subscription ${id} has an unknown status`);
  const { item, planId } = await findPlanItem(database, items.data, { id, status: status.data });
  const metadata = metadataSchema.safeParse(subscription.metadata).data;
  return {
    providerSubscriptionId: id,
    givenId: metadata?.[SUBSCRIPTION_KEY] ?? null,
    seats: metadata?.[SEATS_KEY] === undefined ? null : (item.quantity ?? 1),
    userId,
    planId,
    status: status.data,
    anchor: read.data.billing_cycle_anchor,
    periodStart: item.current_period_start,
    periodEnd: item.current_period_end,
    // A later end is not that of this period.
    cancelAtPeriodEnd:
      read.data.cancel_at_period_end === true || (cancelAt != null && cancelAt <= item.current_period_end),
    endedAt: read.data.ended_at ?? null,
  };
};

/** Returns the account of a subscription, by its own metadata or by its customer. */
const findUser = async (
  database: Knex,
  { metadata, customer }: { readonly metadata?: unknown; readonly customer?: unknown },
): Promise<string | undefined> => {
  const named = metadataSchema.safeParse(metadata).data?.['svc_user_id'];
  if (named !== undefined) return named;
  const customerId = referenceSchema.safeParse(customer).data;
  return customerId === undefined ? undefined : findUserByCustomer(database, customerId);
};

/** Finds the item that is a plan. Others, such as one that support has added, are ignored. */
const findPlanItem = async (
  database: Knex,
  items: readonly Item[],
  { id, status }: { readonly id: string; readonly status: SubscriptionStatus },
): Promise<{ readonly item: Item; readonly planId: string }> => {
  const plans: { item: Item; planId: string }[] = [];
  for (const item of items) {
    const planId = await findPlan(database, item.price);
    if (planId !== undefined) plans.push({ item, planId });
  }
  const [plan] = plans;
  if (plan !== undefined && plans.every(({ planId }) => planId === plan.planId)) return plan;
  const [item] = items;
  const before = PAID.has(status) ? undefined : (await findSubscriptionByProvider(database, id))?.planId;
  if (item !== undefined && before !== undefined) return { item, planId: before };
  const prices = items.map(({ price }) => price.id).join(', ');
  throw new UnreadableObject('price', `the prices ${prices} of the subscription ${id} name no plan, or several`);
};

/** Finds the plan by price, by the metadata of the price, or by product if the price was created at Stripe only. */
const findPlan = async (database: Knex, { id, product, metadata }: Item['price']): Promise<string | undefined> => {
  const named = metadata?.[PLAN_KEY];
  if (named !== undefined && (await findPlanById(database, named)) !== undefined) return named;
  const productId = product ?? null;
  const planId = await findPlanIdByStripe(database, { priceId: id, productId });
  if (planId !== undefined && productId !== null) await upsertStripeProduct(database, productId, planId);
  return planId;
};
