import { events } from '@svc/contracts';
import { appendToOutbox, withOutbox } from '@svc/messaging';
import type { Knex } from 'knex';
import { disableAutoTopUp } from './auto-top-up-queries.ts';
import type { CheckoutSession } from './checkout-session.ts';
import { lockCheckoutSession, updateSessionStatus } from './queries.ts';
import type { ChargeFailure } from './stripe/index.ts';

/** Ends an automatic charge that failed, turns automatic top-ups off and publishes that, once. */
export const failAutoTopUp = async (
  deps: { readonly database: Knex; readonly relay: { readonly hint: () => void }; readonly currency: string },
  { id, userId, amountMicros }: CheckoutSession,
  reason: ChargeFailure,
): Promise<void> => {
  await withOutbox(deps, async (trx) => {
    const session = await lockCheckoutSession(trx, id);
    if (session?.status !== 'open') return;
    await updateSessionStatus(trx, id, { status: 'expired' });
    await disableAutoTopUp(trx, userId);
    await appendToOutbox(trx, {
      subject: events.autoTopUpFailed.subject,
      aggregate: `auto_top_up:${id}`,
      version: 1,
      data: { svc_user_id: userId, amount_micros: amountMicros ?? 0, currency: deps.currency, reason },
    });
  });
};
