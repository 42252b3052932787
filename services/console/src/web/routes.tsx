import { type ComponentType, lazy, type ReactElement, Suspense, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { type PagePath, PermittedPage } from './access/index.ts';
import { documentLocale, loadPageMessages } from './i18n/index.ts';
import { useIsGuarded } from './leave-guard.tsx';
import { ActingScope } from './organization-scope.tsx';
import { OverviewPage } from './overview/index.ts';
import { type SessionState, useIsBusiness, useSessionState } from './session/index.ts';
import {
  BusinessOnlyPage,
  CrashBoundary,
  LeaveForSignIn,
  NotFoundPage,
  SignedInLayout,
  SignedOutLayout,
} from './shell/index.ts';
import { Loading } from './ui/index.ts';

/** Loads a page's script when it is opened, in parallel with its texts. */
const page = <P extends object>(load: () => Promise<ComponentType<P>>) =>
  lazy(async () => {
    const [component] = await Promise.all([load(), loadPageMessages(documentLocale())]);
    return { default: component };
  });

const PlansPage = page(async () => (await import('./plans/index.ts')).PlansPage);
const ReturnPage = page(async () => (await import('./plans/index.ts')).ReturnPage);
const AccountPage = page(async () => (await import('./account/index.ts')).AccountPage);
const DeletedPage = page(async () => (await import('./account/index.ts')).DeletedPage);
const MailedLinkPages = page(async () => (await import('./mailed-links.tsx')).MailedLinkPages);
const ConnectionsPage = page(async () => (await import('./connections/index.ts')).ConnectionsPage);
const KeysPage = page(async () => (await import('./keys/index.ts')).KeysPage);
const WalletPage = page(async () => (await import('./wallet/index.ts')).WalletPage);
const UsagePage = page(async () => (await import('./usage/index.ts')).UsagePage);
const AlertsPage = page(async () => (await import('./alerts.tsx')).AlertsPage);
const AppsPage = page(async () => (await import('./apps/index.ts')).AppsPage);
const RegisterAppPage = page(async () => (await import('./apps/index.ts')).RegisterAppPage);
const AppSettingsPage = page(async () => (await import('./apps/index.ts')).AppSettingsPage);
const AnalyticsPage = page(async () => (await import('./analytics.tsx')).AnalyticsPage);
const VerifyPage = page(async () => (await import('./receipts.tsx')).VerifyPage);
const AccountWebhookPage = page(async () => (await import('./webhooks/index.ts')).AccountWebhookPage);
const WebhookPage = page(async () => (await import('./webhooks/index.ts')).WebhookPage);
const InvitationPage = page(async () => (await import('./invitation-page.tsx')).InvitationPage);
const MembersPage = page(async () => (await import('./organization/index.ts')).MembersPage);
const SeatsPage = page(async () => (await import('./organization/index.ts')).SeatsPage);
const MemberUsagePage = page(async () => (await import('./organization/index.ts')).MemberUsagePage);
const AuditPage = page(async () => (await import('./organization/index.ts')).AuditPage);
const OrganizationSettingsPage = page(async () => (await import('./organization/index.ts')).OrganizationSettingsPage);

/** A receipt can be verified without an account. */
const VERIFY_PATH = '/verify';
/** Opened by the link of a mail, with or without an account. */
const INVITATION_PATH = '/invitations';
const MAILED_LINKS = new Set(['/reset-password', '/verify-email', '/confirm-email', '/undo-email', '/cancel-deletion']);

/** Renders the pages of mailed links, and the others depending on the session. */
export const Pages = (): ReactElement => {
  const state = useSessionState();
  const pathname = useGuardedPathname();
  if (MAILED_LINKS.has(pathname)) {
    return (
      <SignedOutLayout>
        <Suspense fallback={<Loading lines={3} />}>
          <MailedLinkPages />
        </Suspense>
      </SignedOutLayout>
    );
  }
  if (pathname === INVITATION_PATH) {
    return (
      <SignedOutLayout>
        <Suspense fallback={<Loading lines={3} />}>
          <InvitationPage />
        </Suspense>
      </SignedOutLayout>
    );
  }
  if (state.status === 'signed_in' || state.status === 'ended') {
    return (
      <>
        <ActingScope>
          <SignedInPages pathname={pathname} />
        </ActingScope>
        {state.status === 'ended' && <LeaveForSignIn reason="expired" />}
      </>
    );
  }
  return pathname === VERIFY_PATH ? (
    <SignedOutLayout>
      <Suspense fallback={<Loading lines={3} />}>
        <VerifyPage />
      </Suspense>
    </SignedOutLayout>
  ) : (
    <SignedOutPages state={state} />
  );
};

/** Returns the path of the page to show: a guarded one stays, even if the person goes back meanwhile. */
const useGuardedPathname = (): string => {
  const [pathname] = useLocation();
  const isGuarded = useIsGuarded();
  const [shown, setShown] = useState(pathname);
  if (!isGuarded && shown !== pathname) setShown(pathname);
  return isGuarded ? shown : pathname;
};

const SignedOutPages = ({
  state,
}: {
  state: Exclude<SessionState, { status: 'signed_in' | 'ended' }>;
}): ReactElement => (
  <SignedOutLayout>
    {state.status === 'deleted' ? (
      <Suspense fallback={<Loading lines={3} />}>
        <DeletedPage erasedAt={state.erasedAt} />
      </Suspense>
    ) : (
      <LeaveForSignIn reason={state.reason} />
    )}
  </SignedOutLayout>
);

/** The pages of an account, by address. */
const PAGES: Readonly<Record<PagePath, ReactElement>> = {
  '/': <OverviewPage />,
  '/account': <AccountPage />,
  '/account/webhook': <AccountWebhookPage />,
  '/plans': <PlansPage />,
  '/plans/return': <ReturnPage />,
  '/connections': <ConnectionsPage />,
  '/keys': <KeysPage />,
  '/wallet': <WalletPage />,
  '/wallet/return': <ReturnPage />,
  '/usage': <UsagePage />,
  '/usage/alerts': <AlertsPage />,
  [VERIFY_PATH]: <VerifyPage />,
  '/apps': <AppsPage />,
  '/apps/new': <RegisterAppPage />,
  '/apps/:clientId': <AppSettingsPage />,
  '/apps/:clientId/analytics': <AnalyticsPage />,
  '/apps/:clientId/webhook': <WebhookPage />,
  '/organization/members': <MembersPage />,
  '/organization/seats': <SeatsPage />,
  '/organization/usage': <MemberUsagePage />,
  '/organization/audit': <AuditPage />,
  '/organization/settings': <OrganizationSettingsPage />,
};

/** Pages that only a business has. */
const OF_BUSINESS = /^\/(?:apps|organization)(?:\/|$)/;

// Object.keys loses the type of the names.
const PATHS = Object.keys(PAGES) as PagePath[];

const SignedInPages = ({ pathname }: { pathname: string }): ReactElement => {
  const isBusiness = useIsBusiness();
  return (
    <SignedInLayout>
      <CrashBoundary key={pathname}>
        <Suspense fallback={<Loading lines={6} />}>
          <Switch location={pathname}>
            {PATHS.map((path) => (
              <Route key={path} path={path}>
                {OF_BUSINESS.test(path) && !isBusiness ? (
                  <BusinessOnlyPage />
                ) : (
                  <PermittedPage page={path}>{PAGES[path]}</PermittedPage>
                )}
              </Route>
            ))}
            <Route>
              <NotFoundPage />
            </Route>
          </Switch>
        </Suspense>
      </CrashBoundary>
    </SignedInLayout>
  );
};
