import { type SandboxCard, sandboxRoutes, toPayable } from '@svc/contracts';
import { AppError, type Binding, bind } from '@svc/service-kit';
import type { Account } from './account.ts';
import { nowOf } from './advance-subscription.ts';
import { toMicros, toMinor } from './catalog.ts';
import { findSession, isReverted, paySession, toHostedSession } from './checkout-sessions.ts';
import type { BusinessDetails } from './invoice.ts';
import type { Session } from './objects.ts';
import { checkoutPage } from './pages/checkout-page.ts';
import { pageUrl, replyToLostForm, replyToMissing, seeOther } from './pages/page.ts';
import { languageOf } from './pages/page-language.ts';

/**
 * Attempts a payment, or answers the bank's question about one. Returns true if the checkout is paid. Otherwise its page
 * shows the reason.
 */
const submitCheckout = async (
  account: Account,
  session: Session,
  { action, card }: { readonly action: 'pay' | 'confirm' | 'fail'; readonly card: SandboxCard },
): Promise<boolean> => {
  const { status, sandbox } = session;
  const fail = (attempt: Pick<Session['sandbox'], 'is_challenged' | 'failure'>): false => {
    account.objects.update(session.id, { sandbox: { ...sandbox, ...attempt } });
    return false;
  };
  if (status !== 'open') return status === 'complete';
  if (action === 'pay' && card === 'declines') return fail({ is_challenged: false, failure: 'declined' });
  if (action === 'pay' && card === 'asks_to_confirm') return fail({ is_challenged: true, failure: null });
  // Without a question there is nothing to answer.
  if (action !== 'pay' && !sandbox.is_challenged) return false;
  if (action === 'fail') return fail({ is_challenged: false, failure: 'not_confirmed' });
  paySession(account, session, { card: action === 'confirm' ? 'asks_to_confirm' : card, at: nowOf(account) });
  await account.announce();
  return true;
};

/** Promotion codes of the sandbox, and the percentage of the first payment that each takes off. */
const PERCENT_OFF: Readonly<Record<string, number>> = { WELCOME20: 20, FIRSTFREE: 100 };

/** A promotion code, and what it takes off a price. */
interface Promotion {
  readonly code: string;
  readonly discountMicros: number;
}

/** Applies a code as it was typed. Returns undefined for an unknown one. */
const toPromotion = (
  typed: string,
  { amountMicros, currency }: { readonly amountMicros: number; readonly currency: string },
): Promotion | undefined => {
  const code = typed.trim().toUpperCase();
  const percent = Object.hasOwn(PERCENT_OFF, code) ? PERCENT_OFF[code] : undefined;
  return percent === undefined
    ? undefined
    : { code, discountMicros: toPayable((amountMicros * percent) / 100, currency) };
};

/** Routes of the checkout page. */
export const checkoutRoutes = (account: Account): Binding[] => [
  bind(sandboxRoutes.showSandboxCheckout, async ({ params, query, req }) => {
    const session = findSession(account, params.session_id);
    if (session === undefined) return replyToMissing(req, query.locale);
    return checkoutPage({
      session: toHostedSession(account, session),
      business: businessOf(account, session.customer),
      plan: session.price === null ? undefined : account.catalog.findByPrice(session.price),
      isReverted: isReverted(account, session),
      notice: query.notice,
      language: languageOf(req, query.locale),
    });
  }),
  bind(sandboxRoutes.submitSandboxCheckout, async ({ params, body, req }) => {
    const { action, card, locale, business_name: businessName, vat_number: vatNumber } = body;
    const path = `/sandbox/payments/sessions/${encodeURIComponent(params.session_id)}`;
    const page = pageUrl(path, { locale });
    const session = findSession(account, params.session_id);
    if (session === undefined) return replyToLostForm(req, page);
    if (action === 'cancel') return seeOther(session.cancel_url);
    if (action === 'apply_code' || action === 'remove_code') {
      const promotion = action === 'apply_code' ? toPromotion(body.promotion_code, priceOf(session)) : null;
      if (promotion === undefined) return seeOther(pageUrl(path, { locale, notice: 'unknown_code' }));
      setPromotion(account, session, promotion);
      return seeOther(page);
    }
    if (action === 'pay' && vatNumber !== undefined) {
      account.objects.update(session.customer, { name: businessName ?? null, sandbox: { vat_number: vatNumber } });
    }
    if (!(await submitCheckout(account, session, { action, card }))) return seeOther(page);
    const paid = findSession(account, session.id) ?? session;
    return seeOther(isReverted(account, paid) ? page : paid.success_url);
  }),
  bind(sandboxRoutes.completeSandboxCheckout, async ({ params }) => {
    const session = findSession(account, params.session_id);
    if (session === undefined) throw new AppError('not_found');
    if (session.status === 'expired') {
      throw new AppError('checkout_not_completed', 'The checkout session has expired.');
    }
    if (session.status === 'open') paySession(account, session, { card: 'succeeds', at: nowOf(account) });
    await account.announce();
    if (isReverted(account, findSession(account, session.id) ?? session)) {
      throw new AppError('subscription_already_active');
    }
    return { status: 200, body: { session_id: params.session_id, status: 'complete' } };
  }),
];

/** Returns the business details that the customer gave last. */
const businessOf = ({ objects }: Account, id: string): BusinessDetails => {
  const customer = objects.of('customer', id);
  return { businessName: customer?.name ?? null, vatNumber: customer?.sandbox?.vat_number ?? null };
};

const priceOf = ({ amount_subtotal: amount, currency }: Session) => ({
  amountMicros: toMicros(amount, currency),
  currency: currency.toUpperCase(),
});

/** Stores the promotion of an open purchase of a plan; null removes it. */
const setPromotion = ({ objects }: Account, session: Session, promotion: Promotion | null): void => {
  if (session.status !== 'open' || session.mode !== 'subscription') return;
  const discount = toMinor(promotion?.discountMicros ?? 0, session.currency);
  objects.update(session.id, {
    amount_total: session.amount_subtotal - discount,
    total_details: { ...session.total_details, amount_discount: discount },
    discounts: promotion === null ? [] : [{ coupon: null, promotion_code: `promo_${promotion.code}` }],
    sandbox: { ...session.sandbox, promotion_code: promotion?.code ?? null },
  });
};
