import { type SubscriptionStatus, subscriptionStatusSchema } from '@svc/contracts';
import type { Knex } from 'knex';
import type { Stripe } from 'stripe';
import { findPlanIdByStripe, upsertStripeProduct } from '../../plans/index.ts';
import { findSubscriptionByProvider, type ProviderSubscription } from '../../subscriptions/index.ts';
import { idOf } from './id-of.ts';
import { findUserByCustomer } from './queries.ts';

/** Paid states, which require a known plan. In any other state the previous plan is good enough. */
const PAID: ReadonlySet<SubscriptionStatus> = new Set(['active', 'trialing']);

/**
 * Maps a Stripe subscription to a provider state; undefined if it belongs to no account of this deployment. Since API
 * version 2025-03-31 the period is on the item, and a scheduled end may be in `cancel_at` alone.
 */
export const toSubscriptionState = async (
  database: Knex,
  subscription: Stripe.Subscription,
): Promise<ProviderSubscription | undefined> => {
  const customer = idOf(subscription.customer);
  const userId = subscription.metadata['svc_user_id'] ?? (await findUserByCustomer(database, customer));
  if (userId === undefined) return undefined;
  const [item] = subscription.items.data;
  if (item === undefined) throw new Error(`the subscription ${subscription.id} has no item`);
  const status = subscriptionStatusSchema.parse(subscription.status);
  const planId = (await findPlan(database, item.price)) ?? (await findUnpaidPlan(database, subscription.id, status));
  if (planId === undefined)
    throw new Error(`no plan has the price ${item.price.id} of the subscription ${subscription.id}`);
  return {
    providerSubscriptionId: subscription.id,
    userId,
    planId,
    status,
    anchor: fromUnix(subscription.billing_cycle_anchor),
    periodStart: fromUnix(item.current_period_start),
    periodEnd: fromUnix(item.current_period_end),
    cancelAtPeriodEnd: subscription.cancel_at_period_end || subscription.cancel_at !== null,
    endedAt: subscription.ended_at === null ? null : fromUnix(subscription.ended_at),
  };
};

/** Finds the plan by price, or by product if the price was created at Stripe only. */
const findPlan = async (database: Knex, { id: priceId, product }: Stripe.Price): Promise<string | undefined> => {
  const productId = idOf(product);
  const planId = await findPlanIdByStripe(database, { priceId, productId });
  if (planId !== undefined) await upsertStripeProduct(database, productId, planId);
  return planId;
};

/** Returns the previous plan of a subscription whose price is unknown; undefined in a paid state. */
const findUnpaidPlan = async (database: Knex, id: string, status: SubscriptionStatus): Promise<string | undefined> =>
  PAID.has(status) ? undefined : (await findSubscriptionByProvider(database, 'stripe', id))?.planId;

const fromUnix = (seconds: number): Date => new Date(seconds * 1000);
