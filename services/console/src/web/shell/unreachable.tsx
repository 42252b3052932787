import { type ReactElement, useEffect, useMemo } from 'react';
import { createFormats, I18nContext } from '../i18n/index.ts';
import { ErrorNotice } from '../ui/index.ts';
import type { Language } from './language.tsx';

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
