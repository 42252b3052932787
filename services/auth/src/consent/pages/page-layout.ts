import type { Locale } from '@svc/contracts';
import { type Html, html, pagePolicy, productMark, renderPage as renderDocument } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { PAGE_STYLE } from './page-style.ts';

export interface Page {
  readonly locale: Locale;
  readonly title: string;
  readonly content: Html;
  /** Source beside this origin that the page's forms lead to. */
  readonly formTarget?: string | undefined;
  /** Default: `no-referrer`. */
  readonly referrerPolicy?: 'no-referrer' | 'same-origin' | undefined;
}

/** Renders a page that no cache keeps and no other site frames. */
export const renderPage = (
  status: 200 | 400 | 422 | 503,
  { locale, title, content, formTarget, referrerPolicy = 'no-referrer' }: Page,
): ReplyContent => ({
  status,
  contentType: 'text/html; charset=utf-8',
  body: renderDocument({ locale, title, style: PAGE_STYLE, body: frame(content) }),
  headers: {
    'cache-control': 'no-store',
    'content-language': locale,
    'content-security-policy': pagePolicy(PAGE_STYLE, formTarget === undefined ? [] : [formTarget]),
    'referrer-policy': referrerPolicy,
    'x-frame-options': 'DENY',
    // One address serves two languages, and a page belongs to one person.
    vary: 'Cookie, Accept',
  },
});

const frame = (content: Html): Html => html`<header>${productMark()}<span>svc</span></header>
<main>
${content}
</main>`;
