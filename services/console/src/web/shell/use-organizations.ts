import { type ItemOf, useApiQuery } from '../api/index.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';

/** Accounts that a person may act for. Organizations change rarely; switching reads them again. */
const STALE_AFTER_MS = 5 * 60_000;

type Organization = ItemOf<'listOrganizations'>;

export interface OwnOrganizations {
  /** Name of the account that is signed in. */
  readonly ownName: string;
  /** Organization that the person acts for; undefined for the account that is signed in. */
  readonly present: Organization | undefined;
  /** Organizations beside the account that is signed in. Empty until they are known. */
  readonly others: readonly Organization[];
}

/** Returns the accounts that the person may act for. */
export const useOrganizations = (): OwnOrganizations => {
  const account = useAccount();
  const list = useApiQuery('listOrganizations', {}, { staleTime: STALE_AFTER_MS });
  const present = foreignOrganizationOf(account);
  const listed = list.data?.data.filter(({ id }) => id !== account.svc_user_id);
  return {
    ownName: account.business_name ?? account.display_name ?? account.email,
    present,
    others: listed ?? (present === undefined ? [] : [present]),
  };
};
