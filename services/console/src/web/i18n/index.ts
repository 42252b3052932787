export { chooseLocale, docsPath, documentLocale } from './choose-locale.ts';
export type { CoreMessages } from './en/index.ts';
export { createFormats, type Formats, parseAmount, typedAmount } from './formats.ts';
export { I18nContext, loadCoreMessages, loadPageMessages, type Messages, useCoreI18n, useI18n } from './use-i18n.ts';
