export { CODE_FONT, FONT_FILES, TEXT_FONT } from './fonts.ts';
export {
  arrows,
  backArrow,
  cardSymbol,
  cross,
  defineStyle,
  escapeHtml,
  Html,
  type HtmlValue,
  html,
  type Page,
  PRODUCT_ICON,
  pagePolicy,
  productMark,
  renderPage,
  type Style,
  shield,
  tick,
  trustedHtml,
} from './page.ts';
export { type Publication, renderSite, type SitePage, siteStyle, THEME } from './site.ts';
export { COLORS } from './tokens.ts';
