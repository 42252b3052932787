import { type ReactElement, useEffect } from 'react';
import { useLocation, useSearch } from 'wouter';
import { useCoreI18n } from '../i18n/index.ts';
import type { SignedOutReason } from '../session/index.ts';
import { Loading } from '../ui/index.ts';

/** Redirects to the sign-in page, which leads back to this one unless the person has just signed out. */
export const LeaveForSignIn = ({ reason }: { reason: SignedOutReason }): ReactElement => {
  const { locale } = useCoreI18n();
  const [pathname] = useLocation();
  const search = useSearch();
  useEffect(
    () =>
      window.location.replace(
        signInAddress({ reason, locale, page: search === '' ? pathname : `${pathname}?${search}` }),
      ),
    [reason, locale, pathname, search],
  );
  return <Loading lines={4} />;
};

/** Returns the address of the sign-in page. */
export const signInAddress = ({
  reason,
  locale,
  page,
}: {
  reason: SignedOutReason;
  locale: string;
  page: string;
}): string => {
  const isRemembered = reason !== 'signed_out' && page !== '/';
  const query = { next: isRemembered ? page : '', reason: reason === 'none' ? '' : reason, locale };
  return `/sign-in?${new URLSearchParams(Object.entries(query).filter(([, value]) => value !== ''))}`;
};
