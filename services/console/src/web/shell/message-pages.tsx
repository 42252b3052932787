import type { Locale } from '@svc/contracts';
import { type ReactElement, type ReactNode, startTransition, useEffect, useMemo, useState } from 'react';
import { useLocation, useRouter, useSearch } from 'wouter';
import { dropDrafts } from '../drafts.ts';
import {
  type CoreMessages,
  chooseLocale,
  createFormats,
  I18nContext,
  loadCoreMessages,
  useCoreI18n,
} from '../i18n/index.ts';
import { useIsGuarded } from '../leave-guard.tsx';
import type { Preferences } from '../preferences.ts';
import { accountOf, type SignedOutReason, useSessionState } from '../session/index.ts';
import { ButtonLink, EmptyState, ErrorNotice, Loading, Page } from '../ui/index.ts';

/** Shows that an address has no page. */
export const NotFoundPage = (): ReactElement => {
  const { shell } = useCoreI18n().messages;
  return (
    <Page title={shell.notFoundTitle}>
      <EmptyState
        icon="info"
        text={shell.notFoundText}
        action={
          <ButtonLink to="/" variant="primary">
            {shell.toOverview}
          </ButtonLink>
        }
      />
    </Page>
  );
};

/** Shows that a page requires a business account. */
export const BusinessOnlyPage = (): ReactElement => {
  const { shell } = useCoreI18n().messages;
  const [pathname] = useLocation();
  const isOfApps = pathname.startsWith('/apps');
  return (
    <Page title={isOfApps ? shell.apps : shell.organization}>
      <EmptyState
        icon={isOfApps ? 'apps' : 'members'}
        title={shell.businessOnlyTitle}
        text={isOfApps ? shell.businessOnlyText : shell.organizationOnlyText}
        action={<ButtonLink to="/account">{shell.settings}</ButtonLink>}
      />
    </Page>
  );
};

/** Reason for leading a person to the sign-in page. */
type Reason = SignedOutReason | 'expired';

/**
 * Redirects to the sign-in page, which leads back to this one unless the person has just signed out. Waits while the
 * page is guarded. */
export const LeaveForSignIn = ({ reason }: { reason: Reason }): ReactElement => {
  const { locale } = useCoreI18n();
  const [pathname] = useLocation();
  const { base } = useRouter();
  const search = useSearch();
  const isGuarded = useIsGuarded();
  useEffect(() => {
    if (isGuarded) return;
    if (reason === 'signed_out') dropDrafts();
    const page = `${base}${pathname}`;
    window.location.replace(signInAddress({ reason, locale, page: search === '' ? page : `${page}?${search}` }));
  }, [isGuarded, reason, locale, base, pathname, search]);
  return <Loading lines={4} />;
};

/** Returns the address of the sign-in page. */
export const signInAddress = ({ reason, locale, page }: { reason: Reason; locale: string; page: string }): string => {
  const isRemembered = reason !== 'signed_out' && page !== '/';
  const query = { next: isRemembered ? page : '', reason: reason === 'none' ? '' : reason, locale };
  return `/sign-in?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))}`;
};

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
