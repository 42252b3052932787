export { escapeHtml, Html, type HtmlValue, html, trustedHtml } from './html.ts';
