import type { SandboxCard, sandboxSubscriptionSchema } from '@svc/contracts';
import { inTransaction } from '@svc/database';
import { AppError, invalidField } from '@svc/service-kit';
import type { z } from 'zod';
import { announceSubscription, attemptEach, type SandboxDeps } from './announce-changes.ts';
import { dueAt, fallDue, resumeDunning } from './fall-due.ts';
import { findSubscription, listDueSubscriptions, lockSubscription, readNow, saveSubscription } from './queries.ts';
import type { SandboxSubscription } from './sandbox-records.ts';

/** A subscription as the sandbox tells of it, without billing's id. */
export type SandboxView = Omit<z.input<typeof sandboxSubscriptionSchema>, 'id'>;

const BATCH = 100;
/** Things that happen to one subscription in one go; what is left falls due at the next. */
const STEPS_MAX = 100;
/** So that the clock stays within what dates can say. */
const AHEAD_SECONDS_MAX = 20 * 366 * 86_400;

/** The time of a subscription's own clock. */
export const clockOf = ({ clockAheadSeconds }: SandboxSubscription, now: Date): Date =>
  new Date(now.getTime() + clockAheadSeconds * 1000);

/** Moves the clock of a subscription forward and lets happen, one by one, what falls due. Billing is told of each. */
export const advanceSubscription = async (deps: SandboxDeps, id: string, seconds: number): Promise<SandboxView> => {
  await change(deps, id, (subscription, now) => {
    const clockAheadSeconds = subscription.clockAheadSeconds + seconds;
    if (clockAheadSeconds > AHEAD_SECONDS_MAX) {
      const message = 'Value error, the clock of this subscription is too far ahead';
      throw invalidField(['body', 'seconds'], 'value_error', message);
    }
    return { ...resumeDunning(subscription, clockOf(subscription, now)), clockAheadSeconds };
  });
  await letFallDue(deps, id);
  return view(deps, id);
};

/** Sets how later payments of a subscription go. */
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

/** Lets happen what falls due by now to every subscription, as a payment provider does on its own. */
export const renewDue = async (deps: SandboxDeps): Promise<void> => {
  await attemptEach(await listDueSubscriptions(deps.database, BATCH), (id) => letFallDue(deps, id));
};

const letFallDue = async (deps: SandboxDeps, id: string): Promise<void> => {
  for (let step = 0; step < STEPS_MAX; step += 1) {
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

/** Changes a subscription under its lock; undefined leaves it. Throws `not_found`. */
const change = (
  { database }: SandboxDeps,
  id: string,
  to: (subscription: SandboxSubscription, now: Date) => SandboxSubscription | undefined,
): Promise<void> =>
  inTransaction(database, async (trx) => {
    const subscription = await lockSubscription(trx, id);
    if (subscription === undefined) throw new AppError('not_found');
    const changed = to(subscription, await readNow(trx));
    if (changed !== undefined) await saveSubscription(trx, changed);
  });

const view = async ({ database }: SandboxDeps, id: string): Promise<SandboxView> => {
  const subscription = await findSubscription(database, id);
  if (subscription === undefined) throw new AppError('not_found');
  return {
    status: subscription.status,
    clock: clockOf(subscription, await readNow(database)).toISOString(),
    current_period_start: subscription.periodStart.toISOString(),
    current_period_end: subscription.periodEnd.toISOString(),
    cancel_at_period_end: subscription.cancelAtPeriodEnd,
    card: subscription.card,
    when_unpaid: subscription.whenUnpaid,
    failed_attempts: subscription.failedAttempts,
    next_attempt_at: subscription.nextAttemptAt?.toISOString() ?? null,
  };
};
