export { CODE_FONT, FONT_FILES, TEXT_FONT } from './fonts.ts';
export { escapeHtml, Html, type HtmlValue, html, trustedHtml } from './html.ts';
export { defineStyle, type Page, pagePolicy, renderPage, type Style } from './page.ts';
export { type Publication, renderSite, type SitePage, siteStyle, THEME } from './site.ts';
export { arrows, backArrow, cardSymbol, cross, PRODUCT_ICON, productMark, shield, tick } from './symbols.ts';
export { COLORS } from './tokens.ts';
