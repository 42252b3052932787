import { createContext, type ReactElement, type ReactNode, use, useEffect, useState } from 'react';
import type { Preferences, Theme } from '../preferences.ts';

interface ThemeChoice {
  readonly theme: Theme;
  readonly setTheme: (theme: Theme) => void;
}

const ThemeContext = createContext<ThemeChoice | undefined>(undefined);

/** Returns the theme, and a function that changes it. */
export const useTheme = (): ThemeChoice => {
  const choice = use(ThemeContext);
  if (choice === undefined) throw new Error('there is no ThemeProvider above');
  return choice;
};

/** Applies the chosen theme to the document. */
export const ThemeProvider = ({
  preferences,
  children,
}: {
  preferences: Preferences;
  children: ReactNode;
}): ReactElement => {
  const [theme, setTheme] = useState(preferences.theme);
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
  }, [theme]);
  const choose = (next: Theme): void => {
    preferences.setTheme(next);
    setTheme(next);
  };
  return <ThemeContext value={{ theme, setTheme: choose }}>{children}</ThemeContext>;
};
