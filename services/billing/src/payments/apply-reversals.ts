import type { Logger } from '@svc/service-kit';
import type { Knex } from 'knex';
import { creditRefusedRefund, reverseTopUp } from '../wallets/index.ts';
import { disableAutoTopUp } from './auto-top-up-queries.ts';
import type { CheckoutSession } from './checkout-session.ts';
import { lockCheckoutSession } from './queries.ts';
import { lockRefund, updateRefundState } from './refund-queries.ts';
import { type Reversal, upsertReversal } from './reversal-queries.ts';

/** A reversal as the provider reports it. */
export interface ReportedReversal extends Reversal {
  readonly currency: string;
  /** Id of the refund if this service requested it. */
  readonly refundId: string | null;
}

export interface ReversalReport {
  readonly sessionId: string;
  /** Taken before the provider was asked. */
  readonly ticket: number;
  readonly reversals: readonly ReportedReversal[];
}

interface ReversalDeps {
  readonly database: Knex;
  readonly logger: Logger;
}

/**
 * Takes refunds and disputes made at the provider from the wallet, and gives back those that failed or were won. Only
 * the latest state of each counts, so reports may be repeated, late or reordered. A dispute turns automatic top-ups off.
 * Sessions that credited nothing are ignored.
 */
export const applyReversals = (deps: ReversalDeps, { sessionId, ticket, reversals }: ReversalReport): Promise<void> =>
  deps.database.transaction(async (trx) => {
    const session = await lockCheckoutSession(trx, sessionId);
    if (session?.kind !== 'top_up' || session.status !== 'complete') return;
    for (const reversal of reversals) {
      if (await applyToOwnRefund(trx, session, reversal)) continue;
      await applyReversal(deps, trx, { session, reversal, ticket });
    }
  });

/** Credits a refund of ours that failed after the provider had accepted it. Returns false if the refund is not ours. */
const applyToOwnRefund = async (
  trx: Knex.Transaction,
  { id: sessionId, userId }: CheckoutSession,
  { refundId, amountMicros }: ReportedReversal,
): Promise<boolean> => {
  const refund = refundId === null ? undefined : await lockRefund(trx, refundId);
  if (refundId === null || refund?.sessionId !== sessionId) return false;
  if (refund.state === 'refunded' && amountMicros === 0) {
    await updateRefundState(trx, refundId, 'refused');
    await creditRefusedRefund(trx, { userId, amountMicros: refund.amountMicros, refundId });
  }
  return true;
};

const applyReversal = async (
  { logger }: ReversalDeps,
  trx: Knex.Transaction,
  {
    session,
    reversal,
    ticket,
  }: { readonly session: CheckoutSession; readonly reversal: ReportedReversal; readonly ticket: number },
): Promise<void> => {
  const { id, userId, asked } = session;
  const fields = {
    checkout_session_id: id,
    user_id: userId,
    kind: reversal.kind,
    amount_micros: reversal.amountMicros,
    currency: reversal.currency,
  };
  if (asked !== null && asked.currency !== reversal.currency) {
    logger.error(fields, 'a reversal is in another currency than its payment; it has no effect');
    return;
  }
  const change = await upsertReversal(trx, { userId, sessionId: id }, { ...reversal, ticket });
  if (change === undefined || change.changeMicros === 0) return;
  await reverseTopUp(trx, { ...reversal, ...change, userId });
  if (reversal.kind === 'dispute' && change.changeMicros > 0) await disableAutoTopUp(trx, userId);
  logger.warn(fields, 'a payment was reversed at the provider');
};
