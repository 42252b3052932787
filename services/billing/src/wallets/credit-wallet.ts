import { events } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { creditOnce } from './queries.ts';

/** Credits a paid top-up and publishes it. Idempotent by reference. */
export const creditWallet = async (
  trx: Knex.Transaction,
  payment: { userId: string; amountMicros: number; currency: string; reference: string },
): Promise<void> => {
  const revision = await creditOnce(trx, payment);
  if (revision === null) return;
  await appendToOutbox(trx, {
    subject: events.walletCredited.subject,
    aggregate: `wallet:${payment.userId}`,
    version: revision,
    data: { svc_user_id: payment.userId, amount_micros: payment.amountMicros, currency: payment.currency },
  });
};
