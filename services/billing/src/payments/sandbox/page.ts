import { createHash } from 'node:crypto';
import type { ReplyContent } from '@svc/service-kit';
import { type Html, html } from './html.ts';
import { PAGE_STYLE } from './page-style.ts';
import type { PageLanguage } from './page-text.ts';
import { PAGE_ICON, productMark } from './symbols.ts';

const STYLE_HASH = createHash('sha256').update(PAGE_STYLE).digest('base64');

/** A page of the sandbox. */
export interface Page {
  readonly title: string;
  readonly body: Html;
  readonly layout: 'split' | 'narrow' | 'dialog';
  readonly language: PageLanguage;
  /** URLs to which its forms lead in the end: browsers hold the policy's form-action against redirects too. */
  readonly redirects: readonly string[];
  /** 200 unless said otherwise. */
  readonly status?: number;
}

/** A page without scripts or outside resources. */
export const pageReply = ({ title, body, layout, language, redirects, status = 200 }: Page): ReplyContent => {
  const { locale, text } = language;
  const other = locale === 'it' ? 'en' : 'it';
  const page = html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title} · svc</title>
<link rel="icon" href="${PAGE_ICON}">
<style>${{ markup: PAGE_STYLE }}</style>
</head>
<body>
<header>${productMark()}<span>svc</span><span class="tag">${text.sandbox}</span></header>
<main class="${layout}">
${body}
</main>
<footer><span>${text.sandboxNote}</span><a href="?locale=${other}" hreflang="${other}" lang="${other}">${text.otherLanguage}</a></footer>
</body>
</html>
`;
  return {
    status,
    contentType: 'text/html; charset=utf-8',
    body: page.markup,
    headers: {
      'content-security-policy': [
        "default-src 'none'",
        `style-src 'sha256-${STYLE_HASH}'`,
        'img-src data:',
        `form-action 'self' ${formTargets(redirects)}`.trim(),
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'x-frame-options': 'DENY',
      vary: 'accept, accept-language',
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

/** What is answered to a browser that asks for what was never there, or is over. */
export const missingPage = (language: PageLanguage): ReplyContent => {
  const { text } = language;
  const body = html`<section><h1>${text.missingTitle}</h1><p>${text.missing}</p><a class="button" href="/">${text.returnTo}</a></section>`;
  return pageReply({ title: text.missingTitle, body, layout: 'dialog', language, redirects: [], status: 404 });
};
