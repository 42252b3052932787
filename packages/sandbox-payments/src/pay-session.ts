import type { SandboxCard } from '@svc/contracts';
import { AppError } from '@svc/service-kit';
import type { Knex } from 'knex';
import { announceSession, announceSubscription, type SandboxDeps } from './announce-changes.ts';
import { saveCard } from './charge-queries.ts';
import { readClock } from './read-clock.ts';
import { dueToday, type SandboxSession } from './sandbox-session.ts';
import { periodAt, type SandboxSubscription } from './sandbox-subscription.ts';
import { completeSession, lockSession } from './session-queries.ts';
import { saveSubscription } from './subscription-queries.ts';
import { writeInvoice } from './write-invoice.ts';

/**
 * Pays a checkout. Paying it again has no effect. Throws `not_found`, `checkout_not_completed` for an expired checkout, and
 * `subscription_already_active` if it was reverted because the account has another live subscription.
 */
export const paySession = async (
  deps: SandboxDeps,
  id: string,
  card: SandboxCard = 'succeeds',
): Promise<SandboxSession> => {
  const session = await deps.database.transaction((trx) => complete(deps, trx, { id, card }));
  const isReverted = await announceSession(deps, id);
  if (session.subscriptionId !== null) await announceSubscription(deps, session.subscriptionId);
  if (isReverted) throw new AppError('subscription_already_active');
  return session;
};

const complete = async (
  deps: SandboxDeps,
  trx: Knex.Transaction,
  { id, card }: { readonly id: string; readonly card: SandboxCard },
): Promise<SandboxSession> => {
  const session = await lockSession(trx, id);
  if (session === undefined) throw new AppError('not_found');
  if (session.status === 'complete') return session;
  if (session.status === 'expired') throw new AppError('checkout_not_completed', 'The checkout session has expired.');
  const subscription = await subscribe(deps, trx, { ...session, card });
  const subscriptionId = subscription?.id ?? null;
  await completeSession(trx, id, subscriptionId);
  await saveCard(trx, session.customer, card);
  await writeInvoice(deps, trx, {
    customer: session.customer,
    kind: subscription === null ? 'top_up' : 'subscription',
    planName: subscription === null ? null : session.description,
    subscriptionId,
    periodStart: subscription?.periodStart ?? null,
    periodEnd: subscription?.periodEnd ?? null,
    totalMicros: dueToday(session),
    currency: session.currency,
    issuedAt: subscription?.anchor ?? (await readClock(trx)),
  });
  return { ...session, status: 'complete', subscriptionId };
};

const subscribe = async (
  deps: SandboxDeps,
  trx: Knex.Transaction,
  session: SandboxSession & { readonly card: SandboxCard },
): Promise<SandboxSubscription | null> => {
  const { planId, interval, customer, card } = session;
  if (planId === null || interval === null) return null;
  const anchor = await readClock(trx);
  const { start, end } = periodAt(anchor, interval, anchor);
  const subscription: SandboxSubscription = {
    id: `sandbox_${deps.newId('sub')}`,
    customer,
    planId,
    interval,
    status: 'active',
    anchor,
    periodStart: start,
    periodEnd: end,
    cancelAtPeriodEnd: false,
    endedAt: null,
    wasReverted: false,
    card,
    whenUnpaid: 'canceled',
    clockAheadSeconds: 0,
    failedAttempts: 0,
    nextAttemptAt: null,
    creditMicros: 0,
  };
  await saveSubscription(trx, subscription);
  return subscription;
};
