import type { Locale } from '@svc/contracts';
import type { CoreMessages, PageMessages } from './en/index.ts';

const coreLoaders: Record<Locale, () => Promise<CoreMessages>> = {
  en: async () => (await import('./en/core.ts')).enCore,
  it: async () => (await import('./it/core.ts')).itCore,
};

const pageLoaders: Record<Locale, () => Promise<PageMessages>> = {
  en: async () => (await import('./en/pages.ts')).enPages,
  it: async () => (await import('./it/pages.ts')).itPages,
};

const loadedPages = new Map<Locale, Promise<PageMessages>>();

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
