import { type Html, html } from './html.ts';

const MARK =
  '<rect width="32" height="32" rx="9" fill="#3a4fd0"/><path d="M8 20.5c3.2 0 4.4-9 8-9s4.8 9 8 9" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/>';

/** The product, as on its console. What is drawn here says nothing that the text beside it does not say. */
export const productMark = (): Html =>
  html`<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">${{ markup: MARK }}</svg>`;

/** The same for the browser's tab, so that it need not ask for a file. */
export const PAGE_ICON = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${MARK}</svg>`)}`;

const symbol = (path: string): Html =>
  html`<svg viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="${path}"/></svg>`;

/** What is included. */
export const tick = (): Html => symbol('M4 10.5 8.2 14.5 16 6');

/** A bank. */
export const shield = (): Html => symbol('M10 2.5 16 5v4.5c0 4-2.6 6.6-6 8-3.4-1.4-6-4-6-8V5zM7.2 10l2 2 3.6-4');

/** A payment card. */
export const cardSymbol = (): Html =>
  html`<svg class="card" viewBox="0 0 36 24" fill="none" aria-hidden="true" focusable="false"><rect x=".75" y=".75" width="34.5" height="22.5" rx="3.5" stroke="currentColor" stroke-width="1.5"/><path d="M1 8h34" stroke="currentColor" stroke-width="3"/><path d="M5 17.5h8" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"/></svg>`;
