export { chooseLocale } from './choose-locale.ts';
export { docsPath } from './docs-path.ts';
export type { Messages } from './en/index.ts';
export { createFormats, decimalOf, type Formats } from './formats.ts';
export { loadMessages } from './load-messages.ts';
export { parseAmount, typedAmount } from './parse-amount.ts';
export { I18nContext, useI18n } from './use-i18n.ts';
