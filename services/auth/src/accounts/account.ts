import type { Account, AccountType, Locale, OrganizationJson } from '@svc/contracts';

/** An account as stored, without its password. */
export interface AccountRecord {
  readonly id: string;
  readonly email: string;
  readonly accountType: AccountType;
  readonly businessName: string | null;
  /** True if only members with a second factor may act for this organization. */
  readonly requiresSecondFactor: boolean;
  readonly displayName: string | null;
  readonly locale: Locale;
  /** True if sign-in needs more than the password. The factors slice keeps it. */
  readonly hasSecondFactor: boolean;
  readonly createdAt: Date;
  /** Time at which the owner confirmed the address by a mailed link; null before. */
  readonly emailVerifiedAt: Date | null;
  /** Null until the first sign-in, which is always from a new device and not suspicious. */
  readonly firstSignedInAt: Date | null;
  /** Time at which the account is erased; null unless its owner has asked for that. */
  readonly eraseAt: Date | null;
  /** Version of the last fact about the deletion of the account. */
  readonly deletionVersion: number;
  /** Newest session ended by signing out everywhere; null if there was none. */
  readonly sessionsRevokedThrough: string | null;
  /**
   * Time since which credentials may be those of an intruder: a day before a change of address that was undone. Null
   * unless the password is still the one from before.
   */
  readonly distrustedSince: Date | null;
}

/** Trims and lowercases an address. Addresses are stored, compared and unique in this form. */
export const normalizeEmail = (email: string): string => email.trim().toLowerCase();

/** Maps an account to the JSON that its owner sees, with the organization that they act for. */
export const toAccountJson = (account: AccountRecord, organization: OrganizationJson | null): Account => ({
  svc_user_id: account.id,
  email: account.email,
  account_type: account.accountType,
  business_name: account.businessName,
  display_name: account.displayName,
  locale: account.locale,
  has_second_factor: account.hasSecondFactor,
  created_at: account.createdAt.toISOString(),
  email_verified: account.emailVerifiedAt !== null,
  organization,
});

/** Returns the publisher's name as shown on the consent page. */
export const publisherName = (account: AccountRecord): string =>
  account.businessName ?? account.displayName ?? account.email;
