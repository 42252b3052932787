import type { Locale } from '@svc/contracts';

/** Look of the pages. */
export type Theme = 'system' | 'light' | 'dark';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const LOCALE_KEY = 'svc.locale';
const THEME_KEY = 'svc.theme';

/** Choices of a person in this browser. The pages store nothing else, and none of it is secret. */
export interface Preferences {
  readonly locale: () => string | undefined;
  readonly setLocale: (locale: Locale) => void;
  readonly theme: () => Theme;
  readonly setTheme: (theme: Theme) => void;
}

/** Reads and writes preferences; where storage is denied they last as long as the page. */
export const createPreferences = (storage: () => Storage): Preferences => {
  const memory = new Map<string, string>();
  const read = (key: string): string | undefined => {
    try {
      return storage().getItem(key) ?? undefined;
    } catch {
      return memory.get(key);
    }
  };
  const write = (key: string, value: string): void => {
    memory.set(key, value);
    try {
      storage().setItem(key, value);
    } catch {
      // Denied or full: the page keeps it in memory.
    }
  };
  return {
    locale: () => read(LOCALE_KEY),
    setLocale: (locale) => write(LOCALE_KEY, locale),
    theme: () => THEMES.find((theme) => theme === read(THEME_KEY)) ?? 'system',
    setTheme: (theme) => write(THEME_KEY, theme),
  };
};
