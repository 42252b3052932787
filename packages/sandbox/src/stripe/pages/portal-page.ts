import type { ConfiguredPlan, PortalNotice } from '@svc/contracts';
import { backArrow, type Html, html } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import type { Catalog } from '../catalog.ts';
import type { HostedPortal } from '../hosted-session.ts';
import {
  changePlan,
  type HostedSubscription,
  hasEnded,
  isOverdue,
  type Price,
  useCredit,
} from '../hosted-subscription.ts';
import { actionButton, actionForm, cardChoice, challengePage, heldCard, type PageForm, pageReply } from './page.ts';
import type { PageLanguage } from './page-language.ts';

export interface PortalView {
  readonly portal: HostedPortal;
  readonly subscription: HostedSubscription | undefined;
  /** Price of its plan. */
  readonly price: Price | undefined;
  /** Time of the subscription's own clock. */
  readonly clock: Date;
  readonly offer: Catalog;
  readonly notice: PortalNotice | undefined;
  readonly language: PageLanguage;
}

const BAD_NOTICES: ReadonlySet<PortalNotice> = new Set(['declined', 'not_confirmed']);

export const portalPage = (view: PortalView): ReplyContent => {
  const { portal, subscription, notice, language } = view;
  const { text } = language;
  const form = { action: `/sandbox/payments/portal/${encodeURIComponent(portal.id)}/submit`, language };
  const redirects = [portal.returnUrl];
  if (portal.isChallenged && subscription !== undefined) {
    return challengePage(form, overdueAmount(view, subscription), redirects);
  }
  const message =
    notice !== undefined &&
    html`<p class="${BAD_NOTICES.has(notice) ? 'alert' : 'done'}" role="status">${text.notices[notice]}</p>`;
  const body = html`<div class="back">${actionForm(form, actionButton('return', html`${backArrow()} ${text.returnTo}`, 'link'))}</div>
<h1>${text.portal}</h1>${message}
${subscription === undefined ? html`<section><p>${text.none}</p></section>` : managed(view, subscription, form)}`;
  return pageReply({ title: text.portal, body, layout: 'narrow', language, redirects });
};

const managed = (view: PortalView, subscription: HostedSubscription, form: PageForm): Html => {
  const { language } = view;
  const { text } = language;
  const isUnpaid = isOverdue(subscription);
  return html`${isUnpaid && overdue(view, subscription, form)}${current(view, subscription, form)}
<section><h2>${text.card}</h2>${heldCard(subscription.card, language)}
<details${isUnpaid && html` open`}><summary>${text.changeCard}</summary>${actionForm(
    form,
    html`${cardChoice(subscription.card, language)}${actionButton('change_card', text.saveCard)}`,
  )}</details></section>`;
};

const current = (view: PortalView, subscription: HostedSubscription, form: PageForm): Html => {
  const { language, offer, clock } = view;
  const { text } = language;
  const plan = offer.find(subscription.planId);
  const { status } = subscription;
  const tone = status === 'active' || status === 'trialing' ? 'good' : 'bad';
  const price =
    plan !== undefined && html`<p class="amount">${priceOf(view)} <span>${text.per[plan.price.interval]}</span></p>`;
  return html`<section><h2>${plan?.name ?? subscription.planId} <span class="tag ${tone}">${text.statuses[status]}</span></h2>
${price}${period(subscription, language)}${credit(view, subscription)}
${subscription.clockAheadSeconds !== 0 && html`<p class="note">${text.clock(language.time(clock))}</p>`}
${!hasEnded(status) && html`${plans(view, subscription, form)}${ending(view, subscription, form)}`}</section>`;
};

const credit = ({ price, language: { text, money } }: PortalView, { creditMicros }: HostedSubscription) =>
  price !== undefined &&
  creditMicros > 0 &&
  html`<p class="note">${text.credit(money(creditMicros, price.currency))}</p>`;

/** Renders the date of the renewal or end. An overdue subscription has neither for certain. */
const period = ({ status, periodEnd, cancelAtPeriodEnd }: HostedSubscription, { text, date }: PageLanguage) => {
  if (hasEnded(status)) return undefined;
  if (cancelAtPeriodEnd) return html`<p>${text.endsOn(date(periodEnd))}</p>`;
  return status === 'past_due' ? undefined : html`<p>${text.renewsOn(date(periodEnd))}</p>`;
};

const overdue = (view: PortalView, subscription: HostedSubscription, form: PageForm): Html => {
  const { text, date } = view.language;
  const { nextAttemptAt } = subscription;
  return html`<section><h2>${text.overdueTitle}</h2>
<p class="alert">${nextAttemptAt === null ? text.overdueForGood : text.overdue(date(nextAttemptAt))}</p>
${actionForm(form, actionButton('pay', text.payNow(overdueAmount(view, subscription)), 'main'))}</section>`;
};

const plans = (view: PortalView, subscription: HostedSubscription, form: PageForm) => {
  const { text } = view.language;
  if (view.offer.plans.every(({ id }) => id === subscription.planId)) return undefined;
  const options = view.offer.plans.map((plan) => {
    const checked = plan.id === subscription.planId && html` checked`;
    return html`<label class="plain"><input type="radio" name="plan_id" value="${plan.id}" required${checked}><span>${plan.name}<small>${planTerms(view, subscription, plan)}</small></span></label>`;
  });
  return html`<details><summary>${text.changePlan}</summary>${actionForm(
    form,
    html`<fieldset><legend class="unseen">${text.newPlan}</legend>${options}</fieldset><p class="note">${text.planNow}</p>
${actionButton('change_plan', text.changePlan, 'main')}`,
  )}</details>`;
};

/** Says what a plan costs, and what a change to it costs now. */
const planTerms = ({ clock, language }: PortalView, subscription: HostedSubscription, plan: ConfiguredPlan): string => {
  const { text } = language;
  const { amount_micros: amountMicros, currency, interval } = plan.price;
  const money = (micros: number): string => language.money(micros, currency);
  const cost = `${money(amountMicros)} ${text.per[interval]}`;
  if (plan.id === subscription.planId) return `${cost} · ${text.yourPlan}`;
  const { dueMicros, changed } = changePlan(subscription, plan, clock);
  if (dueMicros > 0) return `${cost} · ${text.dueNow(money(dueMicros))}`;
  return `${cost} · ${changed.creditMicros > 0 ? text.credited(money(changed.creditMicros)) : text.nothingDue}`;
};

const ending = ({ language }: PortalView, subscription: HostedSubscription, form: PageForm): Html => {
  const { text } = language;
  if (subscription.cancelAtPeriodEnd) return actionForm(form, actionButton('resume', text.resume, 'main'));
  const end = language.date(subscription.periodEnd);
  return html`<details><summary>${text.cancelTitle}</summary>${actionForm(
    form,
    html`<p>${text.cancelText(end)}</p>${actionButton('cancel', text.cancel, 'danger')}`,
  )}</details>`;
};

const priceOf = ({ price, language }: PortalView): string =>
  price === undefined ? '' : language.money(price.amountMicros, price.currency);

const overdueAmount = ({ price, language }: PortalView, { creditMicros }: HostedSubscription): string =>
  price === undefined ? '' : language.money(useCredit(price.amountMicros, creditMicros).dueMicros, price.currency);
