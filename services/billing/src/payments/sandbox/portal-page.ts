import type { PortalNotice } from '@svc/contracts';
import type { ReplyContent } from '@svc/service-kit';
import type { PlanOffer } from '../../plans/index.ts';
import { actionButton, actionForm, cardChoice, challengePage, type Html, html, pageReply } from './html.ts';
import type { PageLanguage } from './page-text.ts';
import { hasEnded, type SandboxPortal, type SandboxSubscription } from './sandbox-records.ts';

/** What the portal shows: the customer's subscription, if there is one, and the time of its clock. */
export interface PortalView {
  readonly portal: SandboxPortal;
  readonly subscription: SandboxSubscription | undefined;
  readonly clock: Date;
  readonly offer: PlanOffer;
  readonly notice: PortalNotice | undefined;
  readonly language: PageLanguage;
}

const BAD_NOTICES: ReadonlySet<PortalNotice> = new Set(['declined', 'not_confirmed']);

/** The portal page. */
export const portalPage = (view: PortalView): ReplyContent => {
  const { portal, subscription, notice, language } = view;
  const { text } = language;
  const form = { action: `/sandbox/payments/portal/${encodeURIComponent(portal.id)}/submit`, language };
  const redirects = [portal.returnUrl];
  if (portal.isChallenged && subscription !== undefined) {
    return challengePage({ action: form.action, amount: priceOf(view, subscription), redirects }, language);
  }
  const said =
    notice === undefined
      ? html``
      : html`<p class="${BAD_NOTICES.has(notice) ? 'alert' : 'done'}" role="status">${text.notices[notice]}</p>`;
  const body = html`<div>${actionForm(form, actionButton('return', text.returnTo))}</div>
<h1>${text.portal}</h1>${said}
${subscription === undefined ? html`<section><p>${text.none}</p></section>` : managed(view, subscription, form)}`;
  return pageReply({ title: text.portal, body, layout: 'narrow', language, redirects });
};

type Form = Parameters<typeof actionForm>[0];

const managed = (view: PortalView, subscription: SandboxSubscription, form: Form): Html => {
  const { text } = view.language;
  const card = html`<section><h2>${text.card}</h2>${actionForm(
    form,
    html`${cardChoice(text.card, subscription.card, view.language)}${actionButton('change_card', text.saveCard)}`,
  )}</section>`;
  const parts = [current(view, subscription), overdue(view, subscription, form), card];
  if (!hasEnded(subscription.status)) parts.push(plans(view, subscription, form), ending(view, subscription, form));
  return html`${parts}`;
};

const current = ({ language, offer, clock }: PortalView, subscription: SandboxSubscription): Html => {
  const { text } = language;
  const plan = offer.find(subscription.planId);
  const tone = subscription.status === 'active' || subscription.status === 'trialing' ? 'good' : 'bad';
  const end = language.date(subscription.periodEnd);
  const goesOn = subscription.cancelAtPeriodEnd ? text.endsOn(end) : text.renewsOn(end);
  const price =
    plan === undefined
      ? html``
      : html`<p class="amount">${language.money(plan.price.amount_micros, plan.price.currency)} <span>${text.per[plan.price.interval]}</span></p>`;
  return html`<section><h2>${plan?.name ?? subscription.planId} <span class="tag ${tone}">${text.statuses[subscription.status]}</span></h2>
${price}
${hasEnded(subscription.status) ? html`` : html`<p>${goesOn}</p>`}
${subscription.clockAheadSeconds === 0 ? html`` : html`<p class="note">${text.clock(language.time(clock))}</p>`}</section>`;
};

const overdue = (view: PortalView, subscription: SandboxSubscription, form: Form): Html => {
  if (subscription.status !== 'past_due' && subscription.status !== 'unpaid') return html``;
  const { text, date } = view.language;
  const { nextAttemptAt } = subscription;
  return html`<section><h2>${text.overdueTitle}</h2>
<p class="alert">${nextAttemptAt === null ? text.overdueForGood : text.overdue(date(nextAttemptAt))}</p>
${actionForm(form, actionButton('pay', text.payNow(priceOf(view, subscription)), true))}</section>`;
};

const plans = ({ language, offer }: PortalView, subscription: SandboxSubscription, form: Form): Html => {
  const { text } = language;
  const others = offer.plans.filter(({ id }) => id !== subscription.planId);
  if (others.length === 0) return html``;
  const options = others.map(({ id, name, price }, index) => {
    const cost = `${language.money(price.amount_micros, price.currency)} ${text.per[price.interval]}`;
    const checked = index === 0 ? { markup: ' checked' } : html``;
    return html`<label><input type="radio" name="plan_id" value="${id}"${checked}>${name}<span>${cost}</span></label>`;
  });
  return html`<section><h2>${text.changePlan}</h2>${actionForm(
    form,
    html`<fieldset><legend>${text.newPlan}</legend>${options}</fieldset><p class="note">${text.planNow}</p>
${actionButton('change_plan', text.changePlan)}`,
  )}</section>`;
};

const ending = ({ language }: PortalView, subscription: SandboxSubscription, form: Form): Html => {
  const { text } = language;
  const end = language.date(subscription.periodEnd);
  const button = subscription.cancelAtPeriodEnd
    ? actionButton('resume', text.resume)
    : actionButton('cancel', text.cancel);
  return html`<section><h2>${text.cancelTitle}</h2><p>${text.cancelText(end)}</p>${actionForm(form, button)}</section>`;
};

const priceOf = ({ offer, language }: PortalView, subscription: SandboxSubscription): string => {
  const price = offer.find(subscription.planId)?.price;
  return price === undefined ? '' : language.money(price.amount_micros, price.currency);
};
