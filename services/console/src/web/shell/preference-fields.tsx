import type { ReactElement } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { SelectField } from '../ui/index.ts';
import { useTheme } from './theme.tsx';

/** Renders language and theme, for pages before sign-in. */
export const PreferenceFields = (): ReactElement => {
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
