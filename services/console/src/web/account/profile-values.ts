import type { Account, Locale } from '@svc/contracts';
import type { Input } from '../api/index.ts';

/** The profile as edited in its form. */
export interface ProfileValues {
  readonly display_name: string;
  readonly business_name: string;
  /** Empty until a language is chosen here: meanwhile, the menu may change that of the account. */
  readonly locale: Locale | '';
}

/** Returns the form's initial values for an account. */
export const valuesOf = ({ display_name, business_name }: Account): ProfileValues => ({
  display_name: display_name ?? '',
  business_name: business_name ?? '',
  locale: '',
});

/** Converts the form to a change. Only a business has a business name. */
export const toProfileChange = (
  { display_name, business_name, locale }: ProfileValues,
  type: Account['account_type'],
): Input<'updateAccount'>['body'] => ({
  display_name: display_name.trim() || null,
  ...(locale === '' ? {} : { locale }),
  ...(type === 'business' ? { business_name: business_name.trim() } : {}),
});

/** Maximum length of names, as in the service. */
export const NAME_CHARACTERS = { display: 80, business: 120 } as const;
