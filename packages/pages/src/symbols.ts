import { type Html, html, trustedHtml } from './html.ts';

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
