import type { Locale } from '@svc/contracts';
import { createContext, use } from 'react';
import type { Messages } from './en/index.ts';
import type { Formats } from './formats.ts';

/** The language that the pages are in, and how to change it. */
export interface I18n {
  readonly locale: Locale;
  readonly messages: Messages;
  readonly formats: Formats;
  readonly setLocale: (locale: Locale) => void;
}

/** The language that all pages share. */
export const I18nContext = createContext<I18n | undefined>(undefined);

/** Texts and formats of the current language. */
export const useI18n = (): I18n => {
  const i18n = use(I18nContext);
  if (i18n === undefined) throw new Error('there is no I18nContext above');
  return i18n;
};
