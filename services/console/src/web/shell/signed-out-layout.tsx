import type { ReactElement, ReactNode } from 'react';
import { docsPath, useCoreI18n } from '../i18n/index.ts';
import { SelectField } from '../ui/index.ts';
import { Brand } from './brand.tsx';
import { useTheme } from './theme.tsx';

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
