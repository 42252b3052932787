import type { Locale } from '@svc/contracts';

/** Returns the address of a guide in a language. */
export const docsPath = (locale: Locale, page: string): string => `/docs/${locale === 'it' ? 'it/' : ''}${page}`;
