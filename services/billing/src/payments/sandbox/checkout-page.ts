import type { ReplyContent } from '@svc/service-kit';
import type { PlanOffer } from '../../plans/index.ts';
import { formatAmount, type Html, html, pageReply } from './html.ts';
import type { SandboxPortal, SandboxSession, SandboxSubscription } from './sandbox-records.ts';

/** The checkout page. `isReverted`: it was paid, but another subscription was live already. */
export const checkoutPage = (session: SandboxSession, isReverted: boolean): ReplyContent => {
  const { description, amountMicros, currency, interval, successUrl, cancelUrl } = session;
  const every = interval === null ? '' : ` per ${interval}`;
  const body = html`<p>${description}</p>
<p class="amount">${formatAmount(amountMicros, currency)}${every}</p>
${checkoutState(session, isReverted)}`;
  return pageReply('Checkout', body, [successUrl, cancelUrl]);
};

const checkoutState = (session: SandboxSession, isReverted: boolean): Html => {
  const action = `/sandbox/payments/sessions/${encodeURIComponent(session.id)}/submit`;
  if (session.status === 'expired') {
    return html`<p class="alert">This checkout has expired.</p>${button(action, 'cancel', 'Go back')}`;
  }
  if (isReverted) {
    return html`<p class="alert">Another subscription is active, so this payment was reverted.</p>${button(action, 'cancel', 'Go back')}`;
  }
  if (session.status === 'complete') return html`<p>This checkout is paid.</p>${button(action, 'pay', 'Continue')}`;
  const declined = session.wasDeclined ? html`<p class="alert">The card was declined.</p>` : html``;
  return html`${declined}
<form method="post" action="${action}">
<button class="main" name="action" value="pay">Pay</button>
<button name="action" value="decline">Play a declined card</button>
<button name="action" value="cancel">Cancel</button>
</form>`;
};

/** The portal page; `subscription` is the customer's live one. */
export const portalPage = (
  portal: SandboxPortal,
  subscription: SandboxSubscription | undefined,
  offer: PlanOffer,
): ReplyContent => {
  const action = `/sandbox/payments/portal/${encodeURIComponent(portal.id)}/submit`;
  const state = subscription === undefined ? html`<p>There is no subscription.</p>` : live(subscription, offer, action);
  return pageReply('Billing portal', html`${state}${button(action, 'return', 'Return')}`, [portal.returnUrl]);
};

const live = (subscription: SandboxSubscription, offer: PlanOffer, action: string): Html => {
  const name = offer.find(subscription.planId)?.name ?? subscription.planId;
  const end = subscription.periodEnd.toISOString().slice(0, 10);
  const others = offer.plans.filter(({ id }) => id !== subscription.planId);
  const options = others.map(
    ({ id, name: other, price }) =>
      html`<option value="${id}">${other} (${formatAmount(price.amount_micros, price.currency)} per ${price.interval})</option>`,
  );
  return html`<p>${name}: ${subscription.status}</p>
<p class="note">${subscription.cancelAtPeriodEnd ? 'Ends' : 'Renews'} on ${end}.</p>
${subscription.cancelAtPeriodEnd ? button(action, 'resume', 'Resume') : button(action, 'cancel', 'Cancel at period end')}
<form method="post" action="${action}">
<input type="hidden" name="action" value="change_plan">
<select name="plan_id" aria-label="Plan">${options}</select>
<button>Change plan</button>
</form>`;
};

const button = (action: string, value: string, label: string): Html =>
  html`<form method="post" action="${action}"><button name="action" value="${value}">${label}</button></form>`;
