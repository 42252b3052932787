import { type Html, html, pagePolicy, productMark, renderPage } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import type { PageLanguage } from './page-language.ts';
import { PAGE_STYLE } from './page-style.ts';

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
export const missingPage = (language: PageLanguage): ReplyContent => {
  const { text } = language;
  const body = html`<section><h1>${text.missingTitle}</h1><p>${text.missing}</p><a class="button" href="/">${text.returnTo}</a></section>`;
  return pageReply({ title: text.missingTitle, body, layout: 'dialog', language, redirects: [], status: 404 });
};
