import type { Language } from './en.ts';

/** Formats an instant as people write it. The server does not know the zone of the browser, so it names UTC. */
export const formatTime = (instant: Date, language: Language): string => {
  const options = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' } as const;
  return `${new Intl.DateTimeFormat(language === 'it' ? 'it-IT' : 'en-GB', options).format(instant)} UTC`;
};
