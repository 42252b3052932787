import type { CheckoutNotice, ConfiguredPlan } from '@svc/contracts';
import { type Html, html, tick } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { dueToday, type HostedSession } from '../hosted-session.ts';
import type { BusinessDetails } from '../invoice.ts';
import { actionButton, actionForm, cardChoice, challengePage, type PageForm, pageReply } from './page.ts';
import type { PageLanguage } from './page-language.ts';

export interface CheckoutView {
  readonly session: HostedSession;
  /** Undefined for a top-up and for a plan that is no longer on offer. */
  readonly plan: ConfiguredPlan | undefined;
  readonly business: BusinessDetails;
  /** It was paid while another subscription was live. */
  readonly isReverted: boolean;
  readonly notice: CheckoutNotice | undefined;
  readonly language: PageLanguage;
}

export const checkoutPage = (view: CheckoutView): ReplyContent => {
  const { session, language } = view;
  const redirects = [session.successUrl, session.cancelUrl];
  const form = { action: `/sandbox/payments/sessions/${encodeURIComponent(session.id)}/submit`, language };
  if (session.status === 'open' && session.isChallenged) return challengePage(form, dueOf(view), redirects);
  const body = html`<div>${summary(view, form)}</div><section>${payment(view, form)}</section>`;
  return pageReply({ title: language.text.checkout, body, layout: 'split', language, redirects });
};

const priceOf = ({ session, language }: CheckoutView): string => language.money(session.amountMicros, session.currency);

const dueOf = ({ session, language }: CheckoutView): string => language.money(dueToday(session), session.currency);

const summary = (view: CheckoutView, form: PageForm): Html => {
  const { interval, description } = view.session;
  const { text } = view.language;
  const price = priceOf(view);
  const isPlan = interval !== null;
  return html`<h1>${isPlan ? text.subscribeTo(description) : text.topUp}</h1>
<p class="amount">${price}${isPlan && html` <span>${text.per[interval]}</span>`}</p>
${included(view)}
<dl><div><dt>${isPlan ? description : text.topUpItem}</dt><dd>${price}</dd></div>${discount(view)}
<div class="total"><dt>${text.dueToday}</dt><dd>${dueOf(view)}</dd></div></dl>
${isPlan && view.session.status === 'open' && promotion(view, form)}`;
};

const discount = ({ session, language: { text, money } }: CheckoutView): Html | undefined => {
  const { promotionCode, discountMicros, currency } = session;
  if (promotionCode === null) return undefined;
  return html`<div><dt>${text.promotion(promotionCode)}</dt><dd>−${money(discountMicros, currency)}</dd></div>`;
};

/** Takes a promotion code, or removes the one that applies. */
const promotion = ({ session, notice, language: { text } }: CheckoutView, form: PageForm): Html => {
  if (session.promotionCode !== null) return actionForm(form, actionButton('remove_code', text.removeCode, 'link'));
  const isUnknown = notice === 'unknown_code';
  const fault = isUnknown && html`<p class="alert" id="code-fault" role="alert">${text.unknownCode}</p>`;
  const wiring = isUnknown && html` aria-invalid="true" aria-describedby="code-fault"`;
  return html`<details class="code"${isUnknown && html` open`}><summary>${text.addCode}</summary>${actionForm(
    form,
    html`<label class="field"><span>${text.code}</span><input name="promotion_code" autocomplete="off" autocapitalize="characters" maxlength="64" required${wiring}></label>
${fault}${actionButton('apply_code', text.applyCode)}`,
  )}</details>`;
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
  const renewal = interval !== null && `${priceOf(view)} ${text.per[interval]}`;
  const words = session.discountMicros === 0 ? text.renewsItself : text.renewsWithoutDiscount;
  const renews = renewal !== false && html`<p class="note">${words(renewal)}</p>`;
  return html`<h2>${text.card}</h2><p class="note">${text.testCards}</p>${failed}${actionForm(
    form,
    html`${cardChoice('succeeds', language)}
${businessFields(view)}
${actionButton('pay', text.pay(dueOf(view)), 'main')}${renews}${actionButton('cancel', text.goBack, 'link')}`,
  )}`;
};

const businessFields = ({ business, language: { text } }: CheckoutView): Html =>
  html`<details${business.vatNumber !== null && html` open`}><summary>${text.business}</summary>
<label class="field"><span>${text.businessName}</span><input name="business_name" autocomplete="organization" maxlength="120" value="${business.businessName ?? ''}"></label>
<label class="field"><span>${text.vatNumber}</span><input name="vat_number" autocomplete="off" maxlength="20" pattern="\\s*[A-Za-z]{2}[A-Za-z0-9 .]{2,16}\\s*" value="${business.vatNumber ?? ''}"></label></details>`;
