import type { Role } from '@svc/contracts';
import { isRoleEnough, leastRole } from '@svc/contracts/roles';
import type { ReactElement, ReactNode } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import { type OperationName, roleNeedOf } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';
import { ButtonLink, EmptyState, Page } from '../ui/index.ts';
import { type PagePath, pageOperations } from './page-operations.ts';

/** Returns true if a member with this role may call the operation, by the contract. Without a role, a person acts for themself. */
const mayAs = (role: Role | undefined, operation: OperationName): boolean => {
  const need = roleNeedOf(operation);
  return role === undefined || need === undefined || isRoleEnough(role, need);
};

/** Returns a function that says if the person may call an operation for the account that the pages are about. */
export const useMay = (): ((operation: OperationName) => boolean) => {
  const role = useAccount().organization?.role;
  return (operation) => mayAs(role, operation);
};

/** Returns true for a page about the person, whichever account the person acts for. */
const isPersonal = (page: PagePath): boolean => roleNeedOf(pageOperations[page]) === 'person';

/** Returns a function that says if a page is about the present account and open to the person's role. */
export const useMayOpen = (): ((page: PagePath) => boolean) => {
  const account = useAccount();
  const isForeign = foreignOrganizationOf(account) !== undefined;
  return (page) => mayAs(account.organization?.role, pageOperations[page]) && !(isForeign && isPersonal(page));
};

/** Renders what calls an operation, for those whose role allows it. */
export const Permitted = ({ to, children }: { to: OperationName; children: ReactNode }): ReactNode =>
  useMay()(to) && children;

/**
 * Renders a page if the person's role allows it, else which role it needs. A page about the person opens at their own
 * address, so that no page is about two accounts.
 */
export const PermittedPage = ({ page, children }: { page: PagePath; children: ReactNode }): ReactNode => {
  const mayOpen = useMayOpen();
  const isForeign = foreignOrganizationOf(useAccount()) !== undefined;
  const [pathname] = useLocation();
  const search = useSearch();
  if (isForeign && isPersonal(page)) {
    return <Redirect to={linkTo(undefined, search === '' ? pathname : `${pathname}?${search}`)} replace />;
  }
  return mayOpen(page) ? children : <RoleNeeded operation={pageOperations[page]} />;
};

const RoleNeeded = ({ operation }: { operation: OperationName }): ReactElement => {
  const { shell, errors } = useCoreI18n().messages;
  const need = roleNeedOf(operation) ?? 'viewer';
  return (
    <Page title={shell.roleNeededTitle}>
      <EmptyState
        icon="shield"
        text={errors.roleNeeded(shell.roles[leastRole(need)])}
        action={<ButtonLink to="/">{shell.toOverview}</ButtonLink>}
      />
    </Page>
  );
};
