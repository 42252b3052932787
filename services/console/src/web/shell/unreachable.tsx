import type { Locale } from '@svc/contracts';
import { type ReactElement, type ReactNode, startTransition, useEffect, useMemo, useState } from 'react';
import { type CoreMessages, chooseLocale, createFormats, I18nContext, loadCoreMessages } from '../i18n/index.ts';
import type { Preferences } from '../preferences.ts';
import { accountOf, useSessionState } from '../session/index.ts';
import { ErrorNotice } from '../ui/index.ts';

const RETRY_MS = 10_000;

/** Shows that the service cannot be reached, so the session is unknown. Retries by itself. */
export const Unreachable = ({
  language,
  error,
  onRetry,
}: {
  language: Language;
  error: unknown;
  onRetry: () => void;
}): ReactElement => {
  const { locale, messages } = language;
  const i18n = useMemo(
    () => ({ locale, messages, formats: createFormats(locale), setLocale: () => undefined }),
    [locale, messages],
  );
  useEffect(() => {
    const timer = setInterval(onRetry, RETRY_MS);
    window.addEventListener('online', onRetry);
    return () => {
      clearInterval(timer);
      window.removeEventListener('online', onRetry);
    };
  }, [onRetry]);
  return (
    <I18nContext value={i18n}>
      <main className="boot">
        <h1>{messages.shell.unreachableTitle}</h1>
        <ErrorNotice error={error} onRetry={onRetry} />
      </main>
    </I18nContext>
  );
};

/** A language with its texts. */
interface Language {
  readonly locale: Locale;
  readonly messages: CoreMessages;
}

/** Loads the language that fits the known preferences. */
export const loadLanguage = async (preferences: Preferences, account: Locale | undefined): Promise<Language> => {
  const locale = chooseLocale({ chosen: preferences.locale(), account, browser: navigator.languages });
  return { locale, messages: await loadCoreMessages(locale) };
};

/** Provides the language. It follows the signed-in account, unless the person has chosen one in this browser. */
export const LanguageProvider = ({
  initial,
  preferences,
  children,
}: {
  initial: Language;
  preferences: Preferences;
  children: ReactNode;
}): ReactElement => {
  const [language, setLanguage] = useState(initial);
  const state = useSessionState();
  const accountLocale = accountOf(state)?.locale;
  useEffect(() => {
    document.documentElement.lang = language.locale;
  }, [language]);
  useEffect(() => {
    if (accountLocale === undefined) return undefined;
    let isCurrent = true;
    void loadLanguage(preferences, accountLocale).then((next) => {
      if (isCurrent) startTransition(() => setLanguage(next));
    });
    return () => {
      isCurrent = false;
    };
  }, [accountLocale, preferences]);
  const i18n = useMemo(
    () => ({
      ...language,
      formats: createFormats(language.locale),
      setLocale: (locale: Locale) => {
        preferences.setLocale(locale);
        void loadCoreMessages(locale).then((messages) => startTransition(() => setLanguage({ locale, messages })));
      },
    }),
    [language, preferences],
  );
  return <I18nContext value={i18n}>{children}</I18nContext>;
};
