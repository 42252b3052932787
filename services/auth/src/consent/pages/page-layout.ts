import { hash } from 'node:crypto';
import type { Locale } from '@svc/contracts';
import type { ReplyContent } from '@svc/service-kit';
import { Html, html } from './html.ts';
import { PAGE_STYLE } from './page-style.ts';
import { PRODUCT_ICON, productMark } from './symbols.ts';

/** Allows the style by its hash: nothing else may style the pages, and nothing at all may script them. */
const STYLE_SOURCE = `'sha256-${hash('sha256', PAGE_STYLE, 'base64')}'`;

/** A page to show. */
export interface Page {
  locale: Locale;
  title: string;
  content: Html;
  /** Where forms may lead beside us: the redirect that follows one counts too (CSP 3 section 6.4.2). */
  formTarget?: string;
}

/** Makes the answer of a page: no script, no outside resource, in nobody's frame, kept by no cache. */
export const renderPage = (status: 200 | 400, page: Page): ReplyContent => ({
  status,
  contentType: 'text/html; charset=utf-8',
  body: toDocument(page).markup,
  headers: {
    'cache-control': 'no-store',
    'content-language': page.locale,
    'content-security-policy': contentSecurityPolicy(page.formTarget),
    'referrer-policy': 'no-referrer',
    'x-frame-options': 'DENY',
    // Pages in two languages at one address, and a person's own.
    vary: 'Cookie, Accept',
  },
});

const contentSecurityPolicy = (formTarget: string | undefined): string =>
  [
    "default-src 'none'",
    `style-src ${STYLE_SOURCE}`,
    'img-src data:',
    `form-action 'self'${formTarget === undefined ? '' : ` ${formTarget}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');

const toDocument = ({ locale, title, content }: Page): Html => html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · svc</title>
<link rel="icon" href="${PRODUCT_ICON}">
<style>${new Html(PAGE_STYLE)}</style>
</head>
<body>
<header>${productMark()}<span>svc</span></header>
<main>
${content}
</main>
</body>
</html>
`;
