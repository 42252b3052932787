import { type ReactElement, useEffect } from 'react';
import { useLocation, useRouter, useSearch } from 'wouter';
import { dropDrafts } from '../drafts.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { useIsGuarded } from '../leave-guard.tsx';
import type { SignedOutReason } from '../session/index.ts';
import { Loading } from '../ui/index.ts';

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
