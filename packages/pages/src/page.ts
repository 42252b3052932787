import { hash } from 'node:crypto';
import { TEXT_FONT } from './fonts.ts';

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Safe markup. Only `html` and `trustedHtml` create it. */
export class Html {
  readonly markup: string;

  constructor(markup: string) {
    this.markup = markup;
  }
}

/** A value in a template. Lists are joined; undefined and false render nothing. */
export type HtmlValue = Html | string | number | undefined | false | readonly HtmlValue[];

/** Builds markup from a template and escapes every value that is not markup, in text and in quoted attributes. */
export const html = (parts: TemplateStringsArray, ...values: readonly HtmlValue[]): Html =>
  new Html(parts.map((part, index) => part + render(values[index])).join(''));

/** Marks the output of a renderer as safe. Never pass it user input. */
export const trustedHtml = (markup: string): Html => new Html(markup);

/** Escapes the characters that have a meaning in text and in quoted attributes. */
export const escapeHtml = (text: string): string =>
  text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character);

const render = (value: HtmlValue): string => {
  if (value === undefined || value === false) return '';
  if (value instanceof Html) return value.markup;
  if (typeof value === 'string') return escapeHtml(value);
  return typeof value === 'number' ? String(value) : value.map(render).join('');
};

const MARK =
  '<rect width="32" height="32" rx="9" fill="#3a4fd0"/><path d="M8 20.5c3.2 0 4.4-9 8-9s4.8 9 8 9" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/>';

/** The product's mark, as in the console. */
export const productMark = (): Html =>
  html`<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">${trustedHtml(MARK)}</svg>`;

/** The mark as a data URL for the browser's tab, so that the page loads nothing else. */
export const PRODUCT_ICON = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${MARK}</svg>`)}`;

/** Symbols are hidden from screen readers because the text beside them says the same. */
const symbol = (path: string, name: string): Html =>
  html`<svg class="${name}" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="${path}"/></svg>`;

/** Two parties that connect. */
export const arrows = (): Html => symbol('M3 7h13m-3-3 3 3-3 3M17 13H4m3-3-3 3 3 3', 'between');

/** Leads back. Drawn, because the text fonts lack the character. */
export const backArrow = (): Html => symbol('M17 10H3.5m6-6-6 6 6 6', 'back-arrow');

/** Included or allowed. */
export const tick = (): Html => symbol('M4 10.5 8.2 14.5 16 6', 'yes');

/** Excluded or refused. */
export const cross = (): Html => symbol('M5.5 5.5l9 9m0-9-9 9', 'no');

/** A bank, or a proven claim. */
export const shield = (): Html =>
  symbol('M10 2.5 16 5v4.5c0 4-2.6 6.6-6 8-3.4-1.4-6-4-6-8V5zM7.2 10l2 2 3.6-4', 'shield');

/** A payment card. */
export const cardSymbol = (): Html =>
  html`<svg class="card" viewBox="0 0 36 24" fill="none" aria-hidden="true" focusable="false"><rect x=".75" y=".75" width="34.5" height="22.5" rx="3.5" stroke="currentColor" stroke-width="1.5"/><path d="M1 8h34" stroke="currentColor" stroke-width="3"/><path d="M5 17.5h8" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"/></svg>`;

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
