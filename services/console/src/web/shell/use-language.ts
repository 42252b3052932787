import type { Locale } from '@svc/contracts';
import { useApi } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { foreignOrganizationOf, useAccount, useSession } from '../session/index.ts';

export const LOCALES: readonly Locale[] = ['it', 'en'];

/** Returns the language, and a function that changes it: here, and in the mails to the person who is signed in. */
export const useLanguage = (): { readonly locale: Locale; readonly setLanguage: (locale: Locale) => void } => {
  const { locale, setLocale } = useCoreI18n();
  const account = useAccount();
  const session = useSession();
  const { call } = useApi();
  const isOwnAccount = foreignOrganizationOf(account) === undefined;
  const store = async (next: Locale): Promise<void> => {
    const changed = await call('updateAccount', { body: { locale: next } });
    session.updateAccount(changed.account);
  };
  return {
    locale,
    setLanguage: (next) => {
      setLocale(next);
      // Without an answer the choice holds in this browser, and the account page shows the language of mails.
      if (isOwnAccount && next !== account.locale) store(next).catch(() => undefined);
    },
  };
};
