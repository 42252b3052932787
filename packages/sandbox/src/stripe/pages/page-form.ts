import { type SandboxCard, sandboxCardSchema } from '@svc/contracts';
import { cardSymbol, type Html, html, shield } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { pageReply } from './page.ts';
import type { PageLanguage } from './page-language.ts';

/** Target of a page's forms, and the language of the page. */
export interface PageForm {
  readonly action: string;
  readonly language: PageLanguage;
}

/** Renders a form around its fields and buttons. */
export const actionForm = ({ action, language }: PageForm, body: Html): Html =>
  html`<form method="post" action="${action}">${
    language.isChosen && html`<input type="hidden" name="locale" value="${language.locale}">`
  }${body}</form>`;

/** Renders a button that submits an action. */
export const actionButton = (
  action: string,
  label: string | Html,
  look: 'main' | 'second' | 'danger' | 'link' = 'second',
): Html => html`<button class="${look}" name="action" value="${action}">${label}</button>`;

/** Renders radio buttons for the cards. */
export const cardChoice = (chosen: SandboxCard, { text }: PageLanguage): Html => {
  const cards = sandboxCardSchema.options.map(
    (card) =>
      html`<label><input type="radio" name="card" value="${card}"${card === chosen && html` checked`}>${cardText(card, text)}</label>`,
  );
  return html`<fieldset><legend class="unseen">${text.card}</legend>${cards}</fieldset>`;
};

/** Renders the card that a subscription is paid with. */
export const heldCard = (card: SandboxCard, { text }: PageLanguage): Html =>
  html`<p class="held">${cardText(card, text)}</p>`;

const cardText = (card: SandboxCard, text: PageLanguage['text']): Html =>
  html`${cardSymbol()}<span>${text.cardNames[card]}<small>${text.cardHints[card]}</small></span>`;

/** The one card whose bank asks its holder to confirm. */
const ASKING: SandboxCard = 'asks_to_confirm';

/** Renders the bank's question: the sandbox's 3-D Secure. */
export const challengePage = (form: PageForm, amount: string, redirects: readonly string[]): ReplyContent => {
  const { text } = form.language;
  const buttons = html`${actionButton('confirm', text.confirm, 'main')}${actionButton('fail', text.fail)}`;
  const body = html`<section><p class="bank">${shield()}${text.bank}</p><h1>${text.confirmTitle}</h1>
<p>${text.confirmText(amount)}</p>
<dl><div><dt>${text.merchant}</dt><dd>svc</dd></div>
<div><dt>${text.cardShort}</dt><dd>${text.cardNames[ASKING]}</dd></div>
<div class="total"><dt>${text.amount}</dt><dd>${amount}</dd></div></dl>
${actionForm(form, buttons)}</section>`;
  return pageReply({ title: text.confirmTitle, body, layout: 'dialog', language: form.language, redirects });
};
