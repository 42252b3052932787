import type { Locale } from '@svc/contracts';
import type { Messages } from './en/index.ts';

const loaders: Record<Locale, () => Promise<Messages>> = {
  en: async () => (await import('./en/index.ts')).en,
  it: async () => (await import('./it/index.ts')).it,
};

/** Loads the texts of one language; the other one is never downloaded unless it is chosen. */
export const loadMessages = (locale: Locale): Promise<Messages> => loaders[locale]();
