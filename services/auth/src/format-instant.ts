import type { Locale } from '@svc/contracts';

/** Formats a time in a language, in UTC. */
export const formatInstant = (at: Date, locale: Locale): string =>
  `${new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }).format(at)} UTC`;
