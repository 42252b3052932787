import type { Locale } from '@svc/contracts';
import { createContext, use, useMemo } from 'react';
import type { CoreMessages, PageMessages } from './en/index.ts';
import type { Formats } from './formats.ts';

const coreLoaders: Record<Locale, () => Promise<CoreMessages>> = {
  en: async () => (await import('./en/core.ts')).enCore,
  it: async () => (await import('./it/core.ts')).itCore,
};

const pageLoaders: Record<Locale, () => Promise<PageMessages>> = {
  en: async () => (await import('./en/pages.ts')).enPages,
  it: async () => (await import('./it/pages.ts')).itPages,
};

const loadedPages = new Map<Locale, Promise<PageMessages>>();

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

/** Loads the texts of the frame and the first page. The other language is not downloaded unless it is chosen. */
export const loadCoreMessages = (locale: Locale): Promise<CoreMessages> => coreLoaders[locale]();

/** Loads the texts of all other pages. Calls share one promise, as `use` demands, until it fails. */
export const loadPageMessages = (locale: Locale): Promise<PageMessages> => {
  const known = loadedPages.get(locale);
  if (known !== undefined) return known;
  const loading = pageLoaders[locale]();
  loadedPages.set(locale, loading);
  loading.catch(() => loadedPages.delete(locale));
  return loading;
};
