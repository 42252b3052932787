import type { SandboxCard, sandboxSubscriptionSchema } from '@svc/contracts';
import { AppError, invalidField } from '@svc/service-kit';
import type { z } from 'zod';
import { announceSubscription, attemptEach, type SandboxDeps } from './announce-changes.ts';
import { saveCard } from './charge-queries.ts';
import { dueAt, fallDue, resumeDunning } from './fall-due.ts';
import { readClock } from './read-clock.ts';
import { clockOf, type SandboxSubscription } from './sandbox-subscription.ts';
import { findSubscription, listDueSubscriptions, lockSubscription, saveSubscription } from './subscription-queries.ts';
import { invoiceChange } from './write-invoice.ts';

/** A subscription as the controls return it, without the host's id. */
export type SandboxView = Omit<z.input<typeof sandboxSubscriptionSchema>, 'id'>;

const BATCH = 100;
/** Events of one subscription in one run. The next run does the rest. */
const EVENTS_MAX = 100;
/** Keeps the clock within the range of dates. */
const AHEAD_SECONDS_MAX = 20 * 366 * 86_400;

/** Moves the clock of a subscription forward, then applies and announces each event that is due by then. */
export const advanceSubscription = async (deps: SandboxDeps, id: string, seconds: number): Promise<SandboxView> => {
  await change(deps, id, (subscription, now) => {
    const clockAheadSeconds = subscription.clockAheadSeconds + seconds;
    if (clockAheadSeconds > AHEAD_SECONDS_MAX) {
      const message = 'Value error, the clock of this subscription is too far ahead';
      throw invalidField(['body', 'seconds'], 'value_error', message);
    }
    return { ...resumeDunning(subscription, clockOf(subscription, now)), clockAheadSeconds };
  });
  await applyDueEvents(deps, id);
  return view(deps, id);
};

/** Sets the card of later payments and the status after they have failed. */
export const updateSettings = async (
  deps: SandboxDeps,
  id: string,
  settings: { readonly card?: SandboxCard | undefined; readonly when_unpaid?: 'canceled' | 'unpaid' | undefined },
): Promise<SandboxView> => {
  await change(deps, id, (subscription) => ({
    ...subscription,
    card: settings.card ?? subscription.card,
    whenUnpaid: settings.when_unpaid ?? subscription.whenUnpaid,
  }));
  return view(deps, id);
};

/** Applies the due events of all subscriptions. */
export const renewDue = async (deps: SandboxDeps): Promise<void> => {
  await attemptEach(await listDueSubscriptions(deps.database, BATCH), (id) => applyDueEvents(deps, id));
};

const applyDueEvents = async (deps: SandboxDeps, id: string): Promise<void> => {
  for (let count = 0; count < EVENTS_MAX; count += 1) {
    let isDue = false;
    await change(deps, id, (subscription, now) => {
      const at = dueAt(subscription);
      isDue = at !== undefined && at <= clockOf(subscription, now);
      return isDue ? fallDue(subscription) : undefined;
    });
    if (!isDue) return;
    await announceSubscription(deps, id);
  }
};

/** Changes a subscription under its lock, unless `to` returns undefined. Throws `not_found`. */
const change = (
  deps: SandboxDeps,
  id: string,
  to: (subscription: SandboxSubscription, now: Date) => SandboxSubscription | undefined,
): Promise<void> =>
  deps.database.transaction(async (trx) => {
    const subscription = await lockSubscription(trx, id);
    if (subscription === undefined) throw new AppError('not_found');
    const now = await readClock(trx);
    const changed = to(subscription, now);
    if (changed === undefined) return;
    await saveSubscription(trx, changed);
    await invoiceChange(deps, trx, { before: subscription, after: changed, at: dueAt(subscription) ?? now });
    if (changed.card !== subscription.card) await saveCard(trx, changed.customer, changed.card);
  });

const view = async ({ database }: SandboxDeps, id: string): Promise<SandboxView> => {
  const subscription = await findSubscription(database, id);
  if (subscription === undefined) throw new AppError('not_found');
  return {
    status: subscription.status,
    clock: clockOf(subscription, await readClock(database)).toISOString(),
    current_period_start: subscription.periodStart.toISOString(),
    current_period_end: subscription.periodEnd.toISOString(),
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    card: subscription.card,
    when_unpaid: subscription.whenUnpaid,
    failed_attempts: subscription.failedAttempts,
    next_attempt_at: subscription.nextAttemptAt?.toISOString() ?? null,
  };
};
