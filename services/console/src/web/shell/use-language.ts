import type { Locale } from '@svc/contracts';
import { useRef } from 'react';
import { useApi } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { accountOf, foreignOrganizationOf, useAccount, useSession } from '../session/index.ts';

export const LOCALES: readonly Locale[] = ['it', 'en'];

/** Returns the language, and a function that changes it: here, and in the mails to the person who is signed in. */
export const useLanguage = (): { readonly locale: Locale; readonly setLanguage: (locale: Locale) => void } => {
  const { locale, setLocale } = useCoreI18n();
  const account = useAccount();
  const session = useSession();
  const { call } = useApi();
  const isOwnAccount = foreignOrganizationOf(account) === undefined;
  const stored = useRef(Promise.resolve());
  const store = async (next: Locale): Promise<void> => {
    if (accountOf(session.state())?.locale === next) return;
    const { account: changed } = await call('updateAccount', { body: { locale: next } });
    // The person may have signed out meanwhile, or acts for an organization.
    const present = accountOf(session.state());
    if (present?.svc_user_id === changed.svc_user_id) session.updateAccount({ ...present, locale: next });
  };
  return {
    locale,
    setLanguage: (next) => {
      setLocale(next);
      if (!isOwnAccount) return;
      // One after another, so that the last choice holds. Without an answer it holds in this browser, and the account
      // page shows the language of mails.
      stored.current = stored.current.then(() => store(next)).catch(() => undefined);
    },
  };
};
