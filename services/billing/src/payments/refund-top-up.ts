import type { Refund } from '@svc/contracts';
import { inTransaction } from '@svc/database';
import { AppError, invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { creditRefusedRefund, debitRefund } from '../wallets/index.ts';
import type { PaymentProvider } from './provider.ts';
import { findCheckoutSession, lockCheckoutSession } from './queries.ts';
import {
  findRefund,
  insertRefund,
  listPendingRefunds,
  lockRefund,
  sumRefunds,
  type TopUpRefund,
  updateRefundState,
} from './refund-queries.ts';

/** What refunding needs. */
export interface RefundDeps {
  readonly database: Knex;
  readonly provider: PaymentProvider;
  readonly currency: string;
}

const PENDING_MAX = 50;

/**
 * Gives back a top-up or a part of it: takes it from the wallet, then has the payment provider pay it back. Asking again with
 * one id refunds nothing more. Throws `not_found` for what is no paid top-up of this account, `refund_not_possible` for more
 * than is left of it or available, and `payment_provider_unavailable` for a refund that stays pending and is told again.
 */
export const refundTopUp = async (deps: RefundDeps, asked: Omit<TopUpRefund, 'state'>): Promise<Refund> => {
  const refund = await inTransaction(deps.database, (trx) => take(trx, asked));
  return finish(deps, refund);
};

/** Tells the payment provider again of refunds that it has not answered; throws the first failure in the end. */
export const finishRefunds = async (deps: RefundDeps): Promise<void> => {
  const failures: unknown[] = [];
  for (const id of await listPendingRefunds(deps.database, PENDING_MAX)) {
    const refund = await findRefund(deps.database, id);
    if (refund === undefined) continue;
    await finish(deps, refund).catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw failures[0];
};

const take = async (trx: Knex.Transaction, asked: Omit<TopUpRefund, 'state'>): Promise<TopUpRefund> => {
  const { id, userId, sessionId, amountMicros } = asked;
  const session = await lockCheckoutSession(trx, sessionId);
  if (session?.userId !== userId || session.kind !== 'top_up' || session.status !== 'complete') {
    throw new AppError('not_found');
  }
  const left = (session.amountMicros ?? 0) - (await sumRefunds(trx, sessionId));
  // Whoever asks with the same id for another top-up at the same time waits here for the first one.
  if (!(await insertRefund(trx, asked))) return sameRefund(await findRefund(trx, id), asked);
  if (amountMicros > left || !(await debitRefund(trx, { userId, amountMicros, refundId: id }))) {
    throw new AppError('refund_not_possible');
  }
  return { ...asked, state: 'pending' };
};

const sameRefund = (known: TopUpRefund | undefined, asked: Omit<TopUpRefund, 'state'>): TopUpRefund => {
  if (known?.sessionId === asked.sessionId && known.amountMicros === asked.amountMicros) return known;
  throw invalidField(['body', 'refund_id'], 'value_error', 'Value error, the id belongs to another refund');
};

const finish = async (deps: RefundDeps, refund: TopUpRefund): Promise<Refund> => {
  const { id, amountMicros } = refund;
  const answer = { refund_id: id, amount_micros: amountMicros, currency: deps.currency };
  if (refund.state !== 'pending') return { ...answer, state: refund.state };
  const session = await findCheckoutSession(deps.database, refund.sessionId);
  const providerSessionId = session?.providerSessionId;
  if (providerSessionId === undefined || providerSessionId === null) throw new Error('a paid top-up has no session');
  const state = await deps.provider.refundPayment({ providerSessionId, refundId: id, amountMicros });
  await inTransaction(deps.database, async (trx) => {
    const locked = await lockRefund(trx, id);
    if (locked?.state !== 'pending') return;
    await updateRefundState(trx, id, state);
    if (state === 'refused') await creditRefusedRefund(trx, { userId: refund.userId, amountMicros, refundId: id });
  });
  return { ...answer, state };
};
