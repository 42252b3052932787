import type { SandboxCard, sandboxSubscriptionSchema } from '@svc/contracts';
import { invalidField } from '@svc/service-kit';
import type { z } from 'zod';
import type { Account } from './account.ts';
import { toDate } from './catalog.ts';
import { clockOf, dueAt, fallDue, type HostedSubscription, resumeDunning } from './hosted-subscription.ts';
import { saveChange } from './invoice-change.ts';
import { requireSubscription, saveHosted, toHosted } from './subscriptions.ts';

/** A subscription as the controls return it, without the merchant's id. */
export type SubscriptionView = Omit<z.input<typeof sandboxSubscriptionSchema>, 'id'>;

/** Events of one subscription in one run. The next run does the rest. */
const EVENTS_MAX = 100;
/** Keeps the clock within the range of dates. */
const AHEAD_SECONDS_MAX = 20 * 366 * 86_400;

/** Moves the clock of a subscription forward, then applies and announces each event that is due by then. */
export const advanceSubscription = async (account: Account, id: string, seconds: number): Promise<SubscriptionView> => {
  const before = readHosted(account, id);
  const clockAheadSeconds = before.clockAheadSeconds + seconds;
  if (clockAheadSeconds > AHEAD_SECONDS_MAX) {
    const message = 'Value error, the clock of this subscription is too far ahead';
    throw invalidField(['body', 'seconds'], 'value_error', message);
  }
  saveHosted(account, { ...resumeDunning(before, clockOf(before, nowOf(account))), clockAheadSeconds });
  await applyDueEvents(account, id);
  return view(account, id);
};

/** Sets the card of later payments and the status after they have failed. */
export const updateSettings = (
  account: Account,
  id: string,
  settings: { readonly card?: SandboxCard | undefined; readonly when_unpaid?: 'canceled' | 'unpaid' | undefined },
): SubscriptionView => {
  const subscription = readHosted(account, id);
  saveHosted(account, {
    ...subscription,
    card: settings.card ?? subscription.card,
    whenUnpaid: settings.when_unpaid ?? subscription.whenUnpaid,
  });
  return view(account, id);
};

/** Applies the due events of all subscriptions. */
export const renewDue = async (account: Account): Promise<void> => {
  for (const { id, status } of account.objects.list('subscription')) {
    if (LASTING.has(status)) await applyDueEvents(account, id);
  }
};

/** States in which something can fall due. */
const LASTING: ReadonlySet<string> = new Set(['active', 'trialing', 'past_due']);

const applyDueEvents = async (account: Account, id: string): Promise<void> => {
  for (let count = 0; count < EVENTS_MAX; count += 1) {
    const before = readHosted(account, id);
    const at = dueAt(before);
    if (at === undefined || at > clockOf(before, nowOf(account))) return;
    saveChange(account, { before, after: fallDue(before), at });
    await account.announce();
  }
};

/** Returns the time of the account, in whole seconds. */
export const nowOf = ({ objects }: Account): Date => toDate(objects.nowSeconds());

export const readHosted = (account: Account, id: string): HostedSubscription =>
  toHosted(account, requireSubscription(account, id));

const view = (account: Account, id: string): SubscriptionView => {
  const subscription = readHosted(account, id);
  return {
    status: subscription.status,
    clock: clockOf(subscription, nowOf(account)).toISOString(),
    current_period_start: subscription.periodStart.toISOString(),
    current_period_end: subscription.periodEnd.toISOString(),
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    card: subscription.card,
    when_unpaid: subscription.whenUnpaid,
    failed_attempts: subscription.failedAttempts,
    next_attempt_at: subscription.nextAttemptAt?.toISOString() ?? null,
  };
};
