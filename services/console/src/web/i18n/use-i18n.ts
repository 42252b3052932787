import type { Locale } from '@svc/contracts';
import { createContext, use, useMemo } from 'react';
import type { CoreMessages, PageMessages } from './en/index.ts';
import type { Formats } from './formats.ts';
import { loadPageMessages } from './load-messages.ts';

/** The language of the frame and the first page, and how to change it. */
export interface CoreI18n {
  readonly locale: Locale;
  readonly messages: CoreMessages;
  readonly formats: Formats;
  readonly setLocale: (locale: Locale) => void;
}

/** Texts of the frame and of all pages. */
export type Messages = CoreMessages & PageMessages;

/** The language that all pages share. */
export const I18nContext = createContext<CoreI18n | undefined>(undefined);

/** Returns the language for components that the first page needs: without the texts of other pages. */
export const useCoreI18n = (): CoreI18n => {
  const i18n = use(I18nContext);
  if (i18n === undefined) throw new Error('there is no I18nContext above');
  return i18n;
};

/** Returns the language with all texts. Suspends until they are loaded. */
export const useI18n = (): CoreI18n & { readonly messages: Messages } => {
  const i18n = useCoreI18n();
  const pageMessages = use(loadPageMessages(i18n.locale));
  return useMemo(() => ({ ...i18n, messages: { ...i18n.messages, ...pageMessages } }), [i18n, pageMessages]);
};
