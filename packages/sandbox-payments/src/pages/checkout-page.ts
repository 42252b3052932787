import type { ConfiguredPlan } from '@svc/contracts';
import { type Html, html, tick } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import type { BusinessDetails } from '../invoice.ts';
import type { SandboxSession } from '../sandbox-session.ts';
import { challengePage } from './challenge-page.ts';
import { pageReply } from './page.ts';
import { actionButton, actionForm, cardChoice, type PageForm } from './page-form.ts';
import type { PageLanguage } from './page-language.ts';

export interface CheckoutView {
  readonly session: SandboxSession;
  /** Undefined for a top-up and for a plan that is no longer on offer. */
  readonly plan: ConfiguredPlan | undefined;
  readonly business: BusinessDetails;
  /** It was paid while another subscription was live. */
  readonly isReverted: boolean;
  readonly language: PageLanguage;
}

export const checkoutPage = (view: CheckoutView): ReplyContent => {
  const { session, language } = view;
  const redirects = [session.successUrl, session.cancelUrl];
  const form = { action: `/sandbox/payments/sessions/${encodeURIComponent(session.id)}/submit`, language };
  if (session.status === 'open' && session.isChallenged) return challengePage(form, amountOf(view), redirects);
  const body = html`<div>${summary(view)}</div><section>${payment(view, form)}</section>`;
  return pageReply({ title: language.text.checkout, body, layout: 'split', language, redirects });
};

const amountOf = ({ session, language }: CheckoutView): string =>
  language.money(session.amountMicros, session.currency);

const summary = (view: CheckoutView): Html => {
  const { interval, description } = view.session;
  const { text } = view.language;
  const amount = amountOf(view);
  const isPlan = interval !== null;
  return html`<h1>${isPlan ? text.subscribeTo(description) : text.topUp}</h1>
<p class="amount">${amount}${isPlan && html` <span>${text.per[interval]}</span>`}</p>
${included(view)}
<dl><div><dt>${isPlan ? description : text.topUpItem}</dt><dd>${amount}</dd></div>
<div class="total"><dt>${text.dueToday}</dt><dd>${amount}</dd></div></dl>`;
};

const included = ({ plan, language: { text, money } }: CheckoutView): Html => {
  if (plan === undefined) return html``;
  const { price, services } = plan;
  const lines = [
    text.aWeek(money(plan.weekly_limit_micros, price.currency)),
    text.aMonth(money(plan.monthly_limit_micros, price.currency)),
    ...(services.chat ? [text.chat] : []),
    ...(services.audio_transcription ? [text.audio] : []),
  ];
  return html`<ul>${lines.map((line) => html`<li>${tick()}<span>${line}</span></li>`)}</ul>`;
};

const payment = (view: CheckoutView, form: PageForm): Html => {
  const { session, isReverted, language } = view;
  const { text } = language;
  const ended = (tone: 'alert' | 'done', message: string, button: Html): Html =>
    html`<p class="${tone}" role="status">${message}</p>${actionForm(form, button)}`;
  if (session.status === 'expired') return ended('alert', text.expired, actionButton('cancel', text.back, 'main'));
  if (isReverted) return ended('alert', text.reverted, actionButton('cancel', text.back, 'main'));
  if (session.status === 'complete') return ended('done', text.isPaid, actionButton('pay', text.proceed, 'main'));
  const { failure, interval } = session;
  const failed = failure !== null && html`<p class="alert" role="alert">${text.failures[failure]}</p>`;
  const amount = amountOf(view);
  const renews = interval !== null && html`<p class="note">${text.renewsItself(`${amount} ${text.per[interval]}`)}</p>`;
  return html`<h2>${text.card}</h2><p class="note">${text.testCards}</p>${failed}${actionForm(
    form,
    html`${cardChoice('succeeds', language)}
${businessFields(view)}
${actionButton('pay', text.pay(amount), 'main')}${renews}${actionButton('cancel', text.goBack, 'link')}`,
  )}`;
};

const businessFields = ({ business, language: { text } }: CheckoutView): Html =>
  html`<details${business.vatNumber !== null && html` open`}><summary>${text.business}</summary>
<label class="field"><span>${text.businessName}</span><input name="business_name" autocomplete="organization" maxlength="120" value="${business.businessName ?? ''}"></label>
<label class="field"><span>${text.vatNumber}</span><input name="vat_number" autocomplete="off" maxlength="20" pattern="\\s*[A-Za-z]{2}[A-Za-z0-9 .]{2,16}\\s*" value="${business.vatNumber ?? ''}"></label></details>`;
