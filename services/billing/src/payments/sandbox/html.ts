import { createHash } from 'node:crypto';
import { type SandboxCard, sandboxCardSchema } from '@svc/contracts';
import type { ReplyContent } from '@svc/service-kit';
import type { PageLanguage } from './page-text.ts';

/** Markup that is safe to put into a page. */
export interface Html {
  readonly markup: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Template tag: every value is escaped, except markup made by this tag and lists of it. */
export const html = (texts: TemplateStringsArray, ...values: readonly (string | Html | readonly Html[])[]): Html => ({
  markup: texts.reduce((page, text, index) => `${page}${render(values[index - 1] ?? '')}${text}`),
});

const render = (value: string | Html | readonly Html[]): string => {
  if (typeof value === 'string') return value.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
  return 'markup' in value ? value.markup : value.map(({ markup }) => markup).join('');
};

const STYLE = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1a1f36, #e8eaf2);
  --soft: light-dark(#4f566b, #a9b0c3);
  --page: light-dark(#f6f8fa, #12141c);
  --box: light-dark(#ffffff, #1b1e29);
  --line: light-dark(#c9cfda, #3a4052);
  --accent: light-dark(#3a45c4, #8f9bff);
  --on-accent: light-dark(#ffffff, #10132b);
  --bad: light-dark(#a3161f, #ff9a9a);
  --bad-box: light-dark(#fdeeee, #3a1d22);
  --good: light-dark(#17633a, #86d9a8);
  --good-box: light-dark(#eaf6ef, #17301f);
  font: 1rem/1.5 system-ui, sans-serif;
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); min-height: 100vh; display: grid; grid-template-rows: auto 1fr auto; }
header, footer { width: min(60rem, 100%); margin: 0 auto; padding: 1rem; display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center; }
footer { color: var(--soft); font-size: 0.875rem; justify-content: space-between; }
.brand { font-weight: 700; font-size: 1.125rem; }
.tag { border: 1px solid currentColor; border-radius: 1rem; padding: 0 0.6rem; font-size: 0.8125rem; font-weight: 600; color: var(--soft); }
.tag.good { color: var(--good); }
.tag.bad { color: var(--bad); }
main { width: min(60rem, 100%); margin: 0 auto; padding: 0 1rem 2rem; display: grid; gap: 1.5rem; align-content: start; }
main.narrow { width: min(30rem, 100%); }
@media (min-width: 48rem) { main.split { grid-template-columns: 1fr 1fr; gap: 3rem; padding-top: 2rem; } }
section, .panel { background: var(--box); border: 1px solid var(--line); border-radius: 0.75rem; padding: 1.25rem; }
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 1.0625rem; margin: 0 0 0.75rem; }
p { margin: 0 0 0.75rem; overflow-wrap: anywhere; }
.amount { font-size: 2.25rem; font-weight: 700; line-height: 1.2; margin: 0.25rem 0 0.75rem; }
.amount span { font-size: 1rem; font-weight: 400; color: var(--soft); }
.note { color: var(--soft); font-size: 0.9375rem; }
.total { display: flex; justify-content: space-between; gap: 1rem; border-top: 1px solid var(--line); padding-top: 0.75rem; font-weight: 600; }
.alert, .done { border-radius: 0.5rem; padding: 0.75rem 1rem; }
.alert { background: var(--bad-box); color: var(--bad); }
.done { background: var(--good-box); color: var(--good); }
form { display: grid; gap: 0.75rem; }
fieldset { border: 1px solid var(--line); border-radius: 0.5rem; padding: 0; margin: 0; min-width: 0; }
legend { margin-left: 0.75rem; padding: 0 0.25rem; font-weight: 600; }
label { display: grid; grid-template-columns: auto 1fr; gap: 0 0.75rem; padding: 0.75rem; cursor: pointer; }
label + label { border-top: 1px solid var(--line); }
label:has(:checked) { background: color-mix(in srgb, var(--accent) 10%, transparent); }
label input { grid-row: span 2; margin: 0.25rem 0 0; width: 1.1rem; height: 1.1rem; accent-color: var(--accent); }
label span { color: var(--soft); font-size: 0.875rem; }
button { font: inherit; font-weight: 600; min-height: 2.75rem; padding: 0.5rem 1rem; border-radius: 0.5rem; border: 1px solid var(--line); background: var(--box); color: var(--ink); cursor: pointer; }
button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
button:hover { filter: brightness(0.95); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
`;
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** A page of the sandbox. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly layout: 'split' | 'narrow';
  readonly language: PageLanguage;
  /** URLs to which its forms lead in the end: browsers hold the policy's form-action against redirects too. */
  readonly redirects: readonly string[];
}

/** A page without scripts or outside resources. */
export const pageReply = ({ title, body, layout, language, redirects }: Page): ReplyContent => {
  const { locale, text } = language;
  const other = locale === 'it' ? 'en' : 'it';
  const page = html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${{ markup: STYLE }}</style>
</head>
<body>
<header><span class="brand">svc</span><span class="tag">${text.sandbox}</span></header>
<main class="${layout}">
${body}
</main>
<footer><span>${text.sandboxNote}</span><a href="?locale=${other}" hreflang="${other}" lang="${other}">${text.otherLanguage}</a></footer>
</body>
</html>
`;
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    body: page.markup,
    headers: {
      'content-security-policy': [
        "default-src 'none'",
        `style-src 'sha256-${STYLE_HASH}'`,
        `form-action 'self' ${formTargets(redirects)}`.trim(),
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'x-frame-options': 'DENY',
      vary: 'accept-language',
    },
  };
};

/** Origins as policy sources; IPv6 literals have no source expression, so their scheme stands for them. */
const formTargets = (urls: readonly string[]): string => {
  const sources = urls.map((url) => {
    const { hostname, origin, protocol } = new URL(url);
    return hostname.startsWith('[') ? protocol : origin;
  });
  return [...new Set(sources)].join(' ');
};

/** A form of the page: its fields, and one or more buttons that say what is to be done. */
export const actionForm = (
  { action, language }: { readonly action: string; readonly language: PageLanguage },
  body: Html,
): Html => {
  const locale = language.isChosen ? html`<input type="hidden" name="locale" value="${language.locale}">` : html``;
  return html`<form method="post" action="${action}">${locale}${body}</form>`;
};

/** A button that does what it says. */
export const actionButton = (action: string, label: string, isMain = false): Html =>
  html`<button${isMain ? { markup: ' class="main"' } : html``} name="action" value="${action}">${label}</button>`;

/** A choice of cards. */
export const cardChoice = (legend: string, chosen: SandboxCard, { text }: PageLanguage): Html => {
  const cards = sandboxCardSchema.options.map((card) => {
    const [name, hint] = text.cards[card];
    const checked = card === chosen ? { markup: ' checked' } : html``;
    return html`<label><input type="radio" name="card" value="${card}"${checked}>${name}<span>${hint}</span></label>`;
  });
  return html`<fieldset><legend>${legend}</legend>${cards}</fieldset>`;
};

/** The question that the bank of a card asks. */
export const challengePage = (
  challenge: { readonly action: string; readonly amount: string; readonly redirects: readonly string[] },
  language: PageLanguage,
): ReplyContent => {
  const { text } = language;
  const { action, amount, redirects } = challenge;
  const buttons = html`${actionButton('confirm', text.confirm, true)}${actionButton('fail', text.fail)}`;
  const body = html`<section><p class="note">${text.bank}</p><h1>${text.confirmTitle}</h1>
<p>${text.confirmText(amount)}</p>${actionForm({ action, language }, buttons)}</section>`;
  return pageReply({ title: text.confirmTitle, body, layout: 'narrow', language, redirects });
};
