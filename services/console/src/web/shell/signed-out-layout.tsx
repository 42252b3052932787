import { createContext, type ReactElement, type ReactNode, use, useEffect, useState } from 'react';
import { Link } from 'wouter';
import { docsPath, useCoreI18n } from '../i18n/index.ts';
import type { Preferences, Theme } from '../preferences.ts';
import { SelectField } from '../ui/index.ts';

/** Renders the product's name, which links to the first page. */
export const Brand = (): ReactElement => {
  const { messages } = useCoreI18n();
  return (
    <Link to="/" className="brand" aria-label={messages.common.product}>
      <svg viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <rect width="32" height="32" rx="9" className="brand-ground" />
        <path d="M8 20.5c3.2 0 4.4-9 8-9s4.8 9 8 9" className="brand-line" />
      </svg>
      <span>svc</span>
    </Link>
  );
};

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

/** Renders language and theme, for pages before sign-in. */
const PreferenceFields = (): ReactElement => {
  const { messages, locale, setLocale } = useCoreI18n();
  const { theme, setTheme } = useTheme();
  const { shell } = messages;
  return (
    <div className="preferences">
      <SelectField
        label={shell.language}
        value={locale}
        onChange={setLocale}
        options={[
          { value: 'it', label: shell.locales.it },
          { value: 'en', label: shell.locales.en },
        ]}
      />
      <SelectField
        label={shell.theme}
        value={theme}
        onChange={setTheme}
        options={[
          { value: 'system', label: shell.themes.system },
          { value: 'light', label: shell.themes.light },
          { value: 'dark', label: shell.themes.dark },
        ]}
      />
    </div>
  );
};

/** Renders the frame of pages before sign-in. */
export const SignedOutLayout = ({ children }: { children: ReactNode }): ReactElement => {
  const { messages, locale } = useCoreI18n();
  return (
    <div className="entrance">
      <a className="skip-link" href="#content">
        {messages.common.skipToContent}
      </a>
      <header>
        <Brand />
      </header>
      <main id="content" tabIndex={-1}>
        {children}
      </main>
      <footer>
        <PreferenceFields />
        <a href={docsPath(locale)}>{messages.shell.documentation}</a>
      </footer>
    </div>
  );
};
