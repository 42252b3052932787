import { hash } from 'node:crypto';
import { TEXT_FONT } from './fonts.ts';
import { type Html, html, trustedHtml } from './html.ts';
import { PRODUCT_ICON } from './symbols.ts';

/** A page without scripts; its one resource is the font. */
export interface Page {
  readonly locale: string;
  readonly title: string;
  readonly style: Style;
  readonly body: Html;
  /** For search engines, which are kept away from pages without one. */
  readonly description?: string;
  /** Seconds until the browser reloads the page. */
  readonly refreshSeconds?: number;
}

/** Renders the whole document. */
export const renderPage = ({ locale, title, style, body, description, refreshSeconds }: Page): string =>
  html`<!doctype html>
<html lang="${locale}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${description === undefined ? html`<meta name="robots" content="noindex">` : html`<meta name="description" content="${description}">`}
${refreshSeconds !== undefined && html`<meta http-equiv="refresh" content="${refreshSeconds}">\n`}<title>${title} · svc</title>
<link rel="icon" href="${PRODUCT_ICON}">
<link rel="preload" as="font" type="font/woff2" href="${TEXT_FONT.path}" crossorigin>
<style>${trustedHtml(style.css)}</style>
</head>
<body>
${body}
</body>
</html>
`.markup;

/**
 * Returns the content security policy of a page: its own style, no scripts, no frames. `formTargets` are the sources beside
 * this origin that its forms lead to; browsers also check the redirect that follows a form (CSP 3 section 6.4.2).
 */
export const pagePolicy = (style: Style, formTargets: readonly string[] = []): string =>
  [
    "default-src 'none'",
    `style-src ${style.source}`,
    'img-src data:',
    "font-src 'self'",
    `form-action ${["'self'", ...new Set(formTargets)].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');

/** A style sheet and the source expression that allows it in a content security policy. */
export interface Style {
  readonly css: string;
  readonly source: string;
}

/** Joins style sheets into one and hashes it. Call it once per style, not once per page. */
export const defineStyle = (...sheets: readonly string[]): Style => {
  const css = sheets.join('');
  return { css, source: `'sha256-${hash('sha256', css, 'base64')}'` };
};
