import type { Locale } from '@svc/contracts';
import { createContext, use } from 'react';

/** Color theme of the pages. */
export type Theme = 'system' | 'light' | 'dark';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const LOCALE_KEY = 'svc.locale';
const THEME_KEY = 'svc.theme';
const FIRST_STEPS_KEY = 'svc.first-steps';

/** A person's choices in this browser. The pages store nothing else, and none of it is secret. */
export interface Preferences {
  readonly locale: () => string | undefined;
  readonly setLocale: (locale: Locale) => void;
  readonly theme: () => Theme;
  readonly setTheme: (theme: Theme) => void;
  /** Returns the id of the account that last hid its first steps here. */
  readonly firstStepsHiddenBy: () => string | undefined;
  readonly hideFirstSteps: (userId: string) => void;
}

/** The preferences that all pages share. */
export const PreferencesContext = createContext<Preferences | undefined>(undefined);

/** Returns the preferences of this browser. */
export const usePreferences = (): Preferences => {
  const preferences = use(PreferencesContext);
  if (preferences === undefined) throw new Error('there is no PreferencesContext above');
  return preferences;
};

/** Creates the preferences. If storage is denied, they last as long as the page. */
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
      // Denied or full: the page keeps the choice in memory.
    }
  };
  return {
    locale: () => read(LOCALE_KEY),
    setLocale: (locale) => write(LOCALE_KEY, locale),
    theme: () => THEMES.find((theme) => theme === read(THEME_KEY)) ?? 'system',
    setTheme: (theme) => write(THEME_KEY, theme),
    firstStepsHiddenBy: () => read(FIRST_STEPS_KEY),
    hideFirstSteps: (userId) => write(FIRST_STEPS_KEY, userId),
  };
};
