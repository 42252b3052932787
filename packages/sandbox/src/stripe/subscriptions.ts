import type { SandboxCard } from '@svc/contracts';
import { type SubscriptionStatus, subscriptionStatusSchema } from '@svc/contracts';
import type { Account } from './account.ts';
import { cardOf, saveCard } from './cards.ts';
import { toDate, toPrice, toSeconds } from './catalog.ts';
import { type HostedSubscription, hasEnded, periodAt } from './hosted-subscription.ts';
import type { Fields, Session, Subscription } from './objects.ts';
import fixtures from './stripe-fixtures.json' with { type: 'json' };

/** Reads a subscription as the pages show it. One whose price is of no plan is shown with the price. */
export const toHosted = ({ objects, catalog }: Account, subscription: Subscription): HostedSubscription => {
  const { sandbox } = subscription;
  const [item] = subscription.items.data;
  if (item === undefined) throw new Error(`the subscription ${subscription.id} has no item`);
  const method = subscription.default_payment_method;
  return {
    id: subscription.id,
    customer: subscription.customer,
    planId: catalog.findByPrice(item.price.id)?.id ?? subscription.metadata['plan_id'] ?? item.price.id,
    quantity: item.quantity ?? 1,
    interval: item.price.recurring.interval,
    status: subscriptionStatusSchema.parse(subscription.status),
    anchor: toDate(subscription.billing_cycle_anchor),
    periodStart: toDate(item.current_period_start),
    periodEnd: toDate(item.current_period_end),
    cancelAtPeriodEnd: subscription.cancel_at_period_end,
    endedAt: subscription.ended_at === null ? null : toDate(subscription.ended_at),
    card: cardOf(method === null ? undefined : objects.of('payment_method', method)),
    whenUnpaid: sandbox.when_unpaid,
    clockAheadSeconds: sandbox.clock_ahead_seconds,
    failedAttempts: sandbox.failed_attempts,
    nextAttemptAt: sandbox.next_attempt_at === null ? null : toDate(sandbox.next_attempt_at),
    creditMicros: sandbox.credit_micros,
    paidMicros: sandbox.paid_micros,
  };
};

/** Stores what has changed in a subscription, and raises the event of it. */
export const saveHosted = (account: Account, hosted: HostedSubscription): void => {
  const { objects, catalog } = account;
  const stored = requireSubscription(account, hosted.id);
  const before = toHosted(account, stored);
  const [item] = stored.items.data;
  const plan = catalog.find(hosted.planId);
  const price = plan === undefined || hosted.planId === before.planId ? item?.price : toPrice(plan);
  const isNewCard = hosted.card !== before.card;
  changeSubscription(account, hosted.id, {
    status: hosted.status,
    billing_cycle_anchor: toSeconds(hosted.anchor),
    cancel_at_period_end: hosted.cancelAtPeriodEnd,
    ended_at: hosted.endedAt === null ? null : toSeconds(hosted.endedAt),
    default_payment_method: isNewCard ? saveCard(objects, hosted.customer, hosted.card) : stored.default_payment_method,
    items: {
      ...stored.items,
      data: [
        {
          ...item,
          price,
          quantity: hosted.quantity,
          current_period_start: toSeconds(hosted.periodStart),
          current_period_end: toSeconds(hosted.periodEnd),
        },
      ],
    },
    sandbox: {
      when_unpaid: hosted.whenUnpaid,
      clock_ahead_seconds: hosted.clockAheadSeconds,
      failed_attempts: hosted.failedAttempts,
      next_attempt_at: hosted.nextAttemptAt === null ? null : toSeconds(hosted.nextAttemptAt),
      credit_micros: hosted.creditMicros,
      paid_micros: hosted.paidMicros,
    },
  });
};

/** Changes members of a subscription, and raises the event of it. */
export const changeSubscription = ({ objects, raise }: Account, id: string, changes: Fields): void => {
  objects.update(id, changes);
  const changed = objects.get(id);
  raise(`customer.subscription.${changed['status'] === 'canceled' ? 'deleted' : 'updated'}`, changed);
};

/** Starts the subscription of a paid session. */
export const startSubscription = (
  account: Account,
  session: Session,
  { card, paidMicros, at }: { readonly card: SandboxCard; readonly paidMicros: number; readonly at: Date },
): Subscription => {
  const { objects, catalog, raise } = account;
  const plan = session.price === null ? undefined : catalog.findByPrice(session.price);
  const price = plan === undefined ? session.sandbox.price : toPrice(plan);
  if (price === null) throw new Error(`the session ${session.id} is for no plan`);
  const { start, end } = periodAt(at, price.recurring.interval, at);
  const [shape] = fixtures.subscription.items.data;
  const item = {
    ...shape,
    id: objects.newId('si'),
    price,
    quantity: session.quantity ?? 1,
    current_period_start: toSeconds(start),
    current_period_end: toSeconds(end),
  };
  const subscription = objects.put('subscription', 'sub', {
    customer: session.customer,
    status: 'active',
    billing_cycle_anchor: toSeconds(at),
    cancel_at: null,
    cancel_at_period_end: false,
    ended_at: null,
    latest_invoice: null,
    metadata: session.subscription_metadata,
    default_payment_method: saveCard(objects, session.customer, card),
    items: { object: 'list', data: [item] },
    sandbox: {
      when_unpaid: 'canceled',
      clock_ahead_seconds: 0,
      failed_attempts: 0,
      next_attempt_at: null,
      credit_micros: 0,
      paid_micros: paidMicros,
    },
  });
  raise('customer.subscription.created', subscription);
  return subscription;
};

/** Finds the subscription that a customer manages: the newest live one, else the newest that can still be paid. */
export const findManaged = (account: Account, customer: string): HostedSubscription | undefined => {
  const own = account.objects.list('subscription').filter((each) => each.customer === customer);
  const open = own.filter(({ status }) => status !== 'canceled' && status !== 'incomplete_expired');
  const managed = open.findLast(({ status }) => status !== 'unpaid') ?? open.at(-1);
  return managed && toHosted(account, managed);
};

/** Finds a subscription by its id at Stripe, or by the one that its merchant gave it. */
export const findSubscription = ({ objects }: Account, id: string): Subscription | undefined =>
  objects.of('subscription', id) ??
  objects.list('subscription').find(({ metadata }) => metadata['svc_subscription_id'] === id);

export const requireSubscription = ({ objects }: Account, id: string): Subscription => {
  const subscription = objects.of('subscription', id);
  if (subscription === undefined) throw new Error(`the stand-in has no subscription ${id}`);
  return subscription;
};

/** Ends a subscription immediately, if it has not ended. */
export const cancelSubscription = (account: Account, { id, status, sandbox }: Subscription): void => {
  // The status is one that this account has set.
  if (status === 'canceled' || (hasEnded(status as SubscriptionStatus) && status !== 'unpaid')) return;
  const ended_at = account.objects.nowSeconds() + sandbox.clock_ahead_seconds;
  changeSubscription(account, id, {
    status: 'canceled',
    ended_at,
    canceled_at: ended_at,
    sandbox: { ...sandbox, next_attempt_at: null },
  });
};
