/** The console's key, so that both share the choice. */
export const THEME_KEY = 'svc.theme';
/** Key of the language that code examples are shown in. */
export const CODE_TAB_KEY = 'svc.code-tab';

/** Returns a remembered choice; null without one or if storage is denied. */
export const readChoice = (key: string): string | null => {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
};

export const writeChoice = (key: string, value: string): void => {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is denied or full: the choice lasts as long as the page.
  }
};
