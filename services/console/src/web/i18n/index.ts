export { chooseLocale, documentLocale } from './choose-locale.ts';
export { docsPath } from './docs-path.ts';
export type { CoreMessages } from './en/index.ts';
export { createFormats, type Formats } from './formats.ts';
export { parseAmount, typedAmount } from './parse-amount.ts';
export { I18nContext, loadCoreMessages, loadPageMessages, type Messages, useCoreI18n, useI18n } from './use-i18n.ts';
