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
  /** Another source that the page's forms may lead to. */
  readonly formTarget?: string | undefined;
  /** Inline script of the page. It may access nothing but the page. */
  readonly script?: string | undefined;
  /** Path of an optional module. It may start workers of this origin. */
  readonly modulePath?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Default: `no-referrer`. */
  readonly referrerPolicy?: 'no-referrer' | 'same-origin' | undefined;
}

export type PageStatus = 200 | 400 | 422 | 429 | 503;

/** Renders a page that is not cached and cannot be framed by other sites. */
export const renderPage = (
  status: PageStatus,
  { locale, title, content, formTarget, script, modulePath, headers, referrerPolicy = 'no-referrer' }: Page,
): ReplyContent => {
  const hasScript = script !== undefined || modulePath !== undefined;
  const nonce = hasScript ? randomBytes(NONCE_BYTES).toString('base64') : undefined;
  const policy = pagePolicy(PAGE_STYLE, formTarget === undefined ? [] : [formTarget]);
  const body = html`${frame(content)}${nonce !== undefined && scriptElements(nonce, { script, modulePath })}`;
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    body: renderDocument({ locale, title, style: PAGE_STYLE, body }),
    headers: {
      ...headers,
      'cache-control': 'no-store',
      'content-language': locale,
      'content-security-policy': nonce === undefined ? policy : `${policy}; ${scriptSources(nonce, modulePath)}`,
      'referrer-policy': referrerPolicy,
      'x-frame-options': 'DENY',
      // One address serves two languages, and a page belongs to one person.
      vary: 'Cookie, Accept',
    },
  };
};

const scriptSources = (nonce: string, modulePath: string | undefined): string =>
  `script-src 'nonce-${nonce}'${modulePath === undefined ? '' : "; worker-src 'self'"}`;

const scriptElements = (nonce: string, { script, modulePath }: Pick<Page, 'script' | 'modulePath'>): Html =>
  html`${script !== undefined && html`\n<script nonce="${nonce}">${trustedHtml(script)}</script>`}${
    modulePath !== undefined && html`\n<script nonce="${nonce}" type="module" src="${modulePath}"></script>`
  }`;

const frame = (content: Html): Html => html`<header>${productMark()}<span>svc</span></header>
<main>
${content}
</main>`;
