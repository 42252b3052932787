import { randomBytes } from 'node:crypto';
import type { Locale } from '@svc/contracts';
import { type Html, html, pagePolicy, productMark, renderPage as renderDocument, trustedHtml } from '@svc/pages';
import type { ReplyContent } from '@svc/service-kit';
import { PAGE_STYLE } from './page-style.ts';

const NONCE_BYTES = 18;

export interface Page {
  readonly locale: Locale;
  readonly title: string;
  readonly content: Html;
  /** Source beside this origin that the page's forms lead to. */
  readonly formTarget?: string | undefined;
  /** The one script of the page. It may use nothing but the page itself. */
  readonly script?: string | undefined;
  /** Default: `no-referrer`. */
  readonly referrerPolicy?: 'no-referrer' | 'same-origin' | undefined;
}

/** Renders a page that no cache keeps and no other site frames. */
export const renderPage = (
  status: 200 | 400 | 422 | 503,
  { locale, title, content, formTarget, script, referrerPolicy = 'no-referrer' }: Page,
): ReplyContent => {
  const nonce = script === undefined ? undefined : randomBytes(NONCE_BYTES).toString('base64');
  const policy = pagePolicy(PAGE_STYLE, formTarget === undefined ? [] : [formTarget]);
  const body = html`${frame(content)}${nonce !== undefined && scriptElement(nonce, script)}`;
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    body: renderDocument({ locale, title, style: PAGE_STYLE, body }),
    headers: {
      'cache-control': 'no-store',
      'content-language': locale,
      'content-security-policy': nonce === undefined ? policy : `${policy}; script-src 'nonce-${nonce}'`,
      'referrer-policy': referrerPolicy,
      'x-frame-options': 'DENY',
      // One address serves two languages, and a page belongs to one person.
      vary: 'Cookie, Accept',
    },
  };
};

const scriptElement = (nonce: string, script = ''): Html =>
  html`\n<script nonce="${nonce}">${trustedHtml(script)}</script>`;

const frame = (content: Html): Html => html`<header>${productMark()}<span>svc</span></header>
<main>
${content}
</main>`;
