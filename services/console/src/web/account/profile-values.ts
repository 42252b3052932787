import type { Account, Locale } from '@svc/contracts';
import type { Input } from '../api/index.ts';

/** The profile as its form holds it. */
export interface ProfileValues {
  readonly display_name: string;
  readonly business_name: string;
  readonly locale: Locale;
}

/** Returns what the form shows for an account. */
export const valuesOf = ({ display_name, business_name, locale }: Account): ProfileValues => ({
  display_name: display_name ?? '',
  business_name: business_name ?? '',
  locale,
});

/** Returns the change that the form stands for. Only a business has a business name. */
export const toProfileChange = (
  { display_name, business_name, locale }: ProfileValues,
  type: Account['account_type'],
): Input<'updateAccount'>['body'] => ({
  display_name: display_name.trim() || null,
  locale,
  ...(type === 'business' ? { business_name: business_name.trim() } : {}),
});
