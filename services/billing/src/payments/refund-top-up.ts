import type { Refund } from '@svc/contracts';
import { AppError, invalidField } from '@svc/service-kit';
import type { Knex } from 'knex';
import { type JobDeps, runItems } from '../jobs.ts';
import { creditRefusedRefund, debitRefund } from '../wallets.ts';
import { findCheckoutSession, lockCheckoutSession } from './checkout-sessions.ts';
import {
  findRefund,
  insertRefund,
  listPendingRefunds,
  lockRefund,
  sumRefunds,
  sumReversals,
  type TopUpRefund,
  updateRefundState,
} from './refund-queries.ts';
import { refundPayment, type StripeDeps } from './stripe/index.ts';
import { checkStep } from './stripe/minor-units.ts';

export interface RefundDeps extends StripeDeps {
  readonly currency: string;
}

type RefundRequest = Omit<TopUpRefund, 'state'>;

/** Pending refunds retried per call. */
const PENDING_MAX = 50;

/**
 * Refunds a top-up in full or in part: debits the wallet, then has Stripe refund the payment. Idempotent
 * by refund id. Throws `not_found` if the session is no paid top-up of this account, `refund_not_possible` if the amount
 * exceeds the rest of the top-up or the available balance, and 422 for an amount that Stripe cannot pay. After `payment_provider_unavailable` the refund stays
 * pending, and `finishRefunds` retries it.
 */
export const refundTopUp = async (deps: RefundDeps, request: RefundRequest): Promise<Refund> => {
  checkStep(deps.currency, request.amountMicros);
  const refund = await deps.database.transaction((trx) => debit(trx, request));
  return finish(deps, refund);
};

/** Retries pending refunds at Stripe. */
export const finishRefunds = async (deps: RefundDeps & JobDeps): Promise<void> =>
  runItems(deps, 'refunds', await listPendingRefunds(deps.database, PENDING_MAX), async (id) => {
    const refund = await findRefund(deps.database, id);
    if (refund !== undefined) await finish(deps, refund);
  });

const debit = async (trx: Knex.Transaction, request: RefundRequest): Promise<TopUpRefund> => {
  const { id, userId, sessionId, amountMicros } = request;
  const session = await lockCheckoutSession(trx, sessionId);
  if (session?.userId !== userId || session.kind !== 'top_up' || session.status !== 'complete') {
    throw new AppError('not_found');
  }
  const left = (session.amountMicros ?? 0) - (await sumRefunds(trx, sessionId)) - (await sumReversals(trx, sessionId));
  // A concurrent request with the same id for another top-up waits here for the first one.
  if (!(await insertRefund(trx, request))) return requireSame(await findRefund(trx, id), request);
  if (amountMicros > left || !(await debitRefund(trx, { userId, amountMicros, refundId: id }))) {
    throw new AppError('refund_not_possible');
  }
  return { ...request, state: 'pending' };
};

const requireSame = (known: TopUpRefund | undefined, request: RefundRequest): TopUpRefund => {
  if (known?.sessionId === request.sessionId && known.amountMicros === request.amountMicros) return known;
  throw invalidField(['body', 'refund_id'], 'value_error', 'Value error, the id belongs to another refund');
};

const finish = async (deps: RefundDeps, refund: TopUpRefund): Promise<Refund> => {
  const { id, amountMicros } = refund;
  const answer = { refund_id: id, amount_micros: amountMicros, currency: deps.currency };
  if (refund.state !== 'pending') return { ...answer, state: refund.state };
  const session = await findCheckoutSession(deps.database, refund.sessionId);
  const providerSessionId = session?.providerSessionId;
  if (providerSessionId === undefined || providerSessionId === null) throw new Error('a paid top-up has no session');
  const state = await refundPayment(deps, {
    providerSessionId,
    refundId: id,
    amountMicros,
    currency: deps.currency,
  });
  await deps.database.transaction(async (trx) => {
    const locked = await lockRefund(trx, id);
    if (locked?.state !== 'pending') return;
    await updateRefundState(trx, id, state);
    if (state === 'refused') await creditRefusedRefund(trx, { userId: refund.userId, amountMicros, refundId: id });
  });
  return { ...answer, state };
};
