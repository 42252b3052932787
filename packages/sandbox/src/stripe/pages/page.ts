import type { IncomingMessage } from 'node:http';
import { type CheckoutNotice, type PortalNotice, type SandboxCard, sandboxCardSchema } from '@svc/contracts';
import {
  cardSymbol,
  defineStyle,
  type Html,
  html,
  pagePolicy,
  productMark,
  renderPage,
  shield,
  THEME,
} from '@svc/pages';
import { AppError, type Reply, type ReplyContent } from '@svc/service-kit';
import { type Locale, languageOf, type PageLanguage } from './page-language.ts';

/** The style of the sandbox's pages. */
const PAGE_STYLE = defineStyle(
  THEME,
  `
body>*{width:min(60rem,100%);margin-inline:auto;padding-inline:1rem}
header{padding-block:1.25rem}
header .tag{margin-left:.25rem}
footer{margin-top:auto;padding-block:1.25rem;display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;color:var(--text-soft);font-size:.875rem}
main{padding-bottom:2rem;display:grid;gap:1.25rem;align-content:start;grid-template-columns:minmax(0,1fr)}
main.narrow{width:min(37.5rem,100%)}
main.dialog{width:min(28rem,100%);margin-block:auto}
header:has(+.narrow),.narrow+footer{width:min(37.5rem,100%)}
header:has(+.dialog),.dialog+footer{width:min(28rem,100%)}
@media (min-width:48rem){main.split{grid-template-columns:minmax(0,1fr) minmax(0,1fr);gap:4rem;padding-top:2.5rem;align-items:start}}
section{background:var(--surface);border:1px solid var(--line);border-radius:1rem;padding:1.5rem;box-shadow:var(--shadow);display:grid;gap:1rem;align-content:start}
@media (max-width:26rem){section{padding:1.125rem}}
.split h1{font-size:1.0625rem;font-weight:600;color:var(--text-soft);letter-spacing:0}
h2{font-size:1.0625rem;line-height:1.35;margin:0;display:flex;flex-wrap:wrap;gap:.25rem .625rem;align-items:center}
p{margin:0;overflow-wrap:anywhere}
.amount{font-size:2.5rem;font-weight:700;line-height:1.15;letter-spacing:-.025em;margin:.25rem 0 1.25rem}
section .amount{font-size:1.75rem;margin:0}
.amount span{font-size:1rem;font-weight:400;letter-spacing:0;color:var(--text-soft)}
.note{color:var(--text-soft);font-size:.9375rem}
.tag{border-radius:1rem;padding:.0625rem .625rem;font-size:.8125rem;font-weight:600;background:var(--surface-sunken);color:var(--text-soft);border:1px solid var(--line)}
.tag.good{background:var(--good-soft);color:var(--good);border-color:transparent}
.tag.bad{background:var(--bad-soft);color:var(--bad);border-color:transparent}
ul{list-style:none;margin:0 0 1.25rem;padding:0;display:grid;gap:.375rem;font-size:.9375rem}
li{display:grid;grid-template-columns:1.25rem 1fr;gap:.5rem}
li svg{width:1.25rem;height:1.25rem;margin-top:.125rem;color:var(--good)}
dl{margin:0;border-block:1px solid var(--line)}
dl div{display:flex;justify-content:space-between;gap:1rem;padding-block:.625rem}
dl div+div{border-top:1px solid var(--line)}
dt{color:var(--text-soft)}
dd{margin:0;text-align:right;overflow-wrap:anywhere}
dl .total :is(dt,dd){font-weight:650;color:var(--text)}
form{display:grid;gap:.75rem}
fieldset{border:0;padding:0;margin:0;min-width:0;display:grid;gap:.5rem}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
label,.held{display:grid;grid-template-columns:auto 2.25rem 1fr;gap:0 .75rem;align-items:center;padding:.75rem;border:1px solid var(--line);border-radius:.625rem}
.held{grid-template-columns:2.25rem 1fr;background:var(--surface-sunken)}
label.plain{grid-template-columns:auto 1fr}
label.field{grid-template-columns:1fr;gap:.25rem;border:0;padding:.25rem 0;cursor:default;font-size:.9375rem}
label.field input{width:100%;height:auto;font:inherit;color:inherit;background:var(--surface);padding:.625rem .75rem;border:1px solid var(--line-strong);border-radius:.625rem}
label{cursor:pointer}
label:hover{border-color:var(--line-strong)}
label:has(:checked){border-color:var(--accent);background:var(--accent-soft)}
label:has(:focus-visible){outline:3px solid var(--accent);outline-offset:2px}
label :focus-visible{outline:none}
label input{margin:0;width:1.125rem;height:1.125rem;accent-color:var(--accent)}
label small,.held small{display:block;color:var(--text-soft);font-size:.875rem}
.card{width:2.25rem;height:1.5rem;color:var(--text-soft)}
button.link{justify-self:center;padding:.25rem;font-weight:500}
button.link:hover{background:none;text-decoration:underline}
.back button.link{display:inline-flex;gap:.375rem;align-items:center;justify-self:start;padding-inline:0}
.back svg{width:1rem;height:1rem}
details{border-top:1px solid var(--line);padding-top:1rem}
details[open] summary{margin-bottom:1rem}
details.code{border:0;padding-top:.75rem}
.split div>form button.link{justify-self:start;padding:.75rem 0 0}
.code button{justify-self:start}
summary{color:var(--accent);font-weight:600;cursor:pointer;width:fit-content;border-radius:.25rem}
.bank{display:flex;align-items:center;gap:.625rem;color:var(--text-soft);font-weight:600;padding-bottom:1rem;border-bottom:1px solid var(--line)}
.bank svg{width:1.5rem;height:1.5rem}
@media (forced-colors:active){.held,.tag{border:1px solid}}
`,
);

/** A page of the sandbox. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly layout: 'split' | 'narrow' | 'dialog';
  readonly language: PageLanguage;
  /** URLs that the page's forms redirect to in the end. */
  readonly redirects: readonly string[];
  readonly status?: number;
}

/** Renders a page in the frame of the sandbox: its label, its note and the link to the other language. */
export const pageReply = ({ title, body, layout, language, redirects, status = 200 }: Page): ReplyContent => ({
  status,
  contentType: 'text/html; charset=utf-8',
  body: renderPage({ locale: language.locale, title, style: PAGE_STYLE, body: frame(body, layout, language) }),
  headers: {
    'content-security-policy': pagePolicy(PAGE_STYLE, redirects.map(toFormTarget)),
    'x-frame-options': 'DENY',
    vary: 'accept, accept-language',
  },
});

const frame = (body: Html, layout: Page['layout'], { locale, text }: PageLanguage): Html => {
  const other = locale === 'it' ? 'en' : 'it';
  return html`<header>${productMark()}<span>svc</span><span class="tag">${text.sandbox}</span></header>
<main class="${layout}">
${body}
</main>
<footer><span>${text.sandboxNote}</span><a href="?locale=${other}" hreflang="${other}" lang="${other}">${text.otherLanguage}</a></footer>`;
};

/** Returns the origin, or the scheme for an IPv6 literal, which has no source expression. */
const toFormTarget = (url: string): string => {
  const { hostname, origin, protocol } = new URL(url);
  return hostname.startsWith('[') ? protocol : origin;
};

/** Renders the 404 page for browsers: the page never existed or has expired. */
const missingPage = (language: PageLanguage): ReplyContent => {
  const { text } = language;
  const body = html`<section><h1>${text.missingTitle}</h1><p>${text.missing}</p><a class="button" href="/">${text.returnTo}</a></section>`;
  return pageReply({ title: text.missingTitle, body, layout: 'dialog', language, redirects: [], status: 404 });
};

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

/** Redirects the browser. Headers are ASCII, so a URL with other characters is encoded. All others stay as they are. */
export const seeOther = (url: string): Reply => {
  const location = /^[\x21-\x7e]*$/.test(url) ? url : new URL(url).href;
  return { status: 303, headers: { location } };
};

export const pageUrl = (
  path: string,
  {
    locale,
    notice,
  }: { readonly locale: Locale | undefined; readonly notice?: CheckoutNotice | PortalNotice | undefined },
): string => {
  const query = new URLSearchParams();
  if (locale !== undefined) query.set('locale', locale);
  if (notice !== undefined) query.set('notice', notice);
  return query.size === 0 ? path : `${path}?${query}`;
};

/** Replies for a page that never existed or has expired: a page to browsers, an error to programs. */
export const replyToMissing = (req: IncomingMessage, locale: Locale | undefined): Reply => {
  if (!isBrowser(req)) throw new AppError('not_found');
  return missingPage(languageOf(req, locale));
};

/** Sends a form whose page has expired back to that page, which says so. */
export const replyToLostForm = (req: IncomingMessage, page: string): Reply => {
  if (!isBrowser(req)) throw new AppError('not_found');
  return seeOther(page);
};

const isBrowser = ({ headers }: IncomingMessage): boolean => /\btext\/html\b/i.test(headers.accept ?? '');
