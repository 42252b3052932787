import { type ReactElement, useEffect } from 'react';
import { useLocation } from 'react-router';
import { useI18n } from '../i18n/index.ts';
import type { SignedOutReason } from '../session/index.ts';
import { Loading } from '../ui/index.ts';

/** Leaves for the sign-in page, which leads back to this one unless the person has just signed out. */
export const LeaveForSignIn = ({ reason }: { reason: SignedOutReason }): ReactElement => {
  const { locale } = useI18n();
  const { pathname, search } = useLocation();
  useEffect(
    () => window.location.replace(signInAddress({ reason, locale, page: `${pathname}${search}` })),
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
