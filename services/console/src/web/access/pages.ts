import { roleNeedOf } from '../api/index.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';
import { type PagePath, pageOperations } from './page-operations.ts';
import { mayAs } from './use-may.ts';

/** Returns true for a page about the person, whichever account the person acts for. */
export const isPersonal = (page: PagePath): boolean => roleNeedOf(pageOperations[page]) === 'person';

/** Returns a function that says if a page is about the present account and open to the person's role. */
export const useMayOpen = (): ((page: PagePath) => boolean) => {
  const account = useAccount();
  const isForeign = foreignOrganizationOf(account) !== undefined;
  return (page) => mayAs(account.organization?.role, pageOperations[page]) && !(isForeign && isPersonal(page));
};
