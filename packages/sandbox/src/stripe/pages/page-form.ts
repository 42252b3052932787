import { type SandboxCard, sandboxCardSchema } from '@svc/contracts';
import { cardSymbol, type Html, html } from '@svc/pages';
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
