import { Html, html } from './html.ts';

const MARK =
  '<rect width="32" height="32" rx="9" fill="#3a4fd0"/><path d="M8 20.5c3.2 0 4.4-9 8-9s4.8 9 8 9" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round"/>';

/** What is drawn here says nothing that the text beside it does not say. */
const symbol = (path: string, name: string): Html =>
  html`<svg class="${name}" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="${path}"/></svg>`;

/** The product, as on its console. */
export const productMark = (): Html =>
  html`<svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">${new Html(MARK)}</svg>`;

/** The same for the browser's tab, so that it need not ask for a file. */
export const PRODUCT_ICON = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${MARK}</svg>`)}`;

/** Two that are to be connected. */
export const arrows = (): Html => symbol('M3 7h13m-3-3 3 3-3 3M17 13H4m3-3-3 3 3 3', 'between');

/** What is allowed. */
export const tick = (): Html => symbol('M4 10.5 8.2 14.5 16 6', 'yes');

/** What is not. */
export const cross = (): Html => symbol('M5.5 5.5l9 9m0-9-9 9', 'no');
