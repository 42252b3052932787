import { leastRole } from '@svc/contracts/roles';
import type { ReactElement, ReactNode } from 'react';
import { Redirect, useLocation, useSearch } from 'wouter';
import { type OperationName, roleNeedOf } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { linkTo } from '../organization-address.ts';
import { foreignOrganizationOf, useAccount } from '../session/index.ts';
import { ButtonLink, EmptyState, Page } from '../ui/index.ts';
import { type PagePath, pageOperations } from './page-operations.ts';
import { isPersonal, useMayOpen } from './pages.ts';
import { useMay } from './use-may.ts';

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
