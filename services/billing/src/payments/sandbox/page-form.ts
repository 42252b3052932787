import { type SandboxCard, sandboxCardSchema } from '@svc/contracts';
import { type Html, html } from './html.ts';
import type { PageLanguage } from './page-text.ts';
import { cardSymbol } from './symbols.ts';

/** Where a form of a page is sent, and the language of the page. */
export interface PageForm {
  readonly action: string;
  readonly language: PageLanguage;
}

/** A form of the page: its fields, and one or more buttons that say what is to be done. */
export const actionForm = ({ action, language }: PageForm, body: Html): Html => {
  const locale = language.isChosen ? html`<input type="hidden" name="locale" value="${language.locale}">` : html``;
  return html`<form method="post" action="${action}">${locale}${body}</form>`;
};

/** A button that does what it says. */
export const actionButton = (
  action: string,
  label: string,
  look: 'main' | 'plain' | 'danger' | 'link' = 'plain',
): Html => html`<button class="${look}" name="action" value="${action}">${label}</button>`;

/** A choice of cards. */
export const cardChoice = (chosen: SandboxCard, { text }: PageLanguage): Html => {
  const cards = sandboxCardSchema.options.map((card) => {
    const checked = card === chosen ? { markup: ' checked' } : html``;
    return html`<label><input type="radio" name="card" value="${card}"${checked}>${cardText(card, text)}</label>`;
  });
  return html`<fieldset><legend class="unseen">${text.card}</legend>${cards}</fieldset>`;
};

/** The card that payments are made with. */
export const heldCard = (card: SandboxCard, { text }: PageLanguage): Html =>
  html`<p class="held">${cardText(card, text)}</p>`;

const cardText = (card: SandboxCard, text: PageLanguage['text']): Html =>
  html`${cardSymbol()}<span>${text.cardNames[card]}<small>${text.cardHints[card]}</small></span>`;
