import type { Locale } from '@svc/contracts';

/** Returns the address of a guide in a language; without a name, that of the documentation. */
export const docsPath = (locale: Locale, page?: string): string =>
  ['/docs', ...(locale === 'it' ? ['it'] : []), ...(page === undefined ? [] : [page])].join('/');
