import type { ReplyContent } from '@svc/service-kit';
import { actionButton, actionForm, cardChoice, challengePage, type Html, html, pageReply } from './html.ts';
import type { PageLanguage } from './page-text.ts';
import type { SandboxSession } from './sandbox-records.ts';

/** The checkout page. `isReverted`: it was paid, but another subscription was live already. */
export const checkoutPage = (session: SandboxSession, isReverted: boolean, language: PageLanguage): ReplyContent => {
  const { description, amountMicros, currency, interval, successUrl, cancelUrl } = session;
  const { text } = language;
  const redirects = [successUrl, cancelUrl];
  const amount = language.money(amountMicros, currency);
  const action = `/sandbox/payments/sessions/${encodeURIComponent(session.id)}/submit`;
  if (session.status === 'open' && session.isChallenged) return challengePage({ action, amount, redirects }, language);
  const every = interval === null ? html`` : html` <span>${text.per[interval]}</span>`;
  const summary = html`<div><h1>${interval === null ? text.topUp : text.subscribeTo(description)}</h1>
<p class="amount">${amount}${every}</p>
${interval === null ? html`` : html`<p class="note">${text.renewsItself}</p>`}
<p class="total"><span>${text.dueToday}</span><span>${amount}</span></p></div>`;
  const body = html`${summary}<section>${payment(session, isReverted, { action, language })}</section>`;
  return pageReply({ title: text.checkout, body, layout: 'split', language, redirects });
};

const payment = (
  session: SandboxSession,
  isReverted: boolean,
  form: { readonly action: string; readonly language: PageLanguage },
): Html => {
  const { text } = form.language;
  const ended = (tone: 'alert' | 'done', message: string, button: Html): Html =>
    html`<p class="${tone}" role="status">${message}</p>${actionForm(form, button)}`;
  if (session.status === 'expired') return ended('alert', text.expired, actionButton('cancel', text.back));
  if (isReverted) return ended('alert', text.reverted, actionButton('cancel', text.back));
  if (session.status === 'complete') return ended('done', text.isPaid, actionButton('pay', text.proceed, true));
  const { failure } = session;
  const failed = failure === null ? html`` : html`<p class="alert" role="alert">${text.failures[failure]}</p>`;
  const amount = form.language.money(session.amountMicros, session.currency);
  return html`${failed}${actionForm(
    form,
    html`${cardChoice(text.payWith, 'succeeds', form.language)}
${actionButton('pay', text.pay(amount), true)}${actionButton('cancel', text.goBack)}`,
  )}`;
};
