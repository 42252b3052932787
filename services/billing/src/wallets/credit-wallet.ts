import { events } from '@svc/contracts';
import { appendToOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { creditOnce, findWallet } from './queries.ts';

/** Credits a paid top-up and publishes it. Idempotent by reference. */
export const creditWallet = async (
  trx: Knex.Transaction,
  payment: { userId: string; amountMicros: number; currency: string; reference: string; isAutomatic: boolean },
): Promise<void> => {
  const { userId, amountMicros, currency, isAutomatic } = payment;
  const revision = await creditOnce(trx, payment);
  const wallet = await findWallet(trx, userId);
  if (revision === null || wallet === undefined) return;
  await appendToOutbox(trx, {
    subject: events.walletCredited.subject,
    aggregate: `wallet:${userId}`,
    version: revision,
    data: {
      svc_user_id: userId,
      amount_micros: amountMicros,
      balance_micros: wallet.balance_micros,
      currency,
      source: isAutomatic ? 'automatic' : 'checkout',
    },
  });
};
