import { type ComponentType, lazy, type ReactElement, type ReactNode, Suspense, useState } from 'react';
import { Route, Switch, useLocation } from 'wouter';
import { documentLocale, loadPageMessages } from './i18n/index.ts';
import { useIsGuarded } from './leave-guard/index.ts';
import { OverviewPage } from './overview/index.ts';
import { type SessionState, useAccount, useSessionState } from './session/index.ts';
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
const MailedLinkPages = page(async () => (await import('./mailed-links/index.ts')).MailedLinkPages);
const ConnectionsPage = page(async () => (await import('./connections/index.ts')).ConnectionsPage);
const KeysPage = page(async () => (await import('./keys/index.ts')).KeysPage);
const WalletPage = page(async () => (await import('./wallet/index.ts')).WalletPage);
const UsagePage = page(async () => (await import('./usage/index.ts')).UsagePage);
const AlertsPage = page(async () => (await import('./alerts/index.ts')).AlertsPage);
const AppsPage = page(async () => (await import('./apps/index.ts')).AppsPage);
const RegisterAppPage = page(async () => (await import('./apps/index.ts')).RegisterAppPage);
const AppSettingsPage = page(async () => (await import('./apps/index.ts')).AppSettingsPage);
const AnalyticsPage = page(async () => (await import('./analytics/index.ts')).AnalyticsPage);
const VerifyPage = page(async () => (await import('./receipts/verify-page.tsx')).VerifyPage);
const AccountWebhookPage = page(async () => (await import('./webhooks/index.ts')).AccountWebhookPage);
const WebhookPage = page(async () => (await import('./webhooks/index.ts')).WebhookPage);

/** A receipt can be verified without an account. */
const VERIFY_PATH = '/verify';
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
  if (state.status === 'signed_in' || state.status === 'ended') {
    return (
      <>
        <SignedInPages pathname={pathname} />
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

const SignedInPages = ({ pathname }: { pathname: string }): ReactElement => (
  <SignedInLayout>
    <CrashBoundary key={pathname}>
      <Suspense fallback={<Loading lines={6} />}>
        <Switch location={pathname}>
          <Route path="/">
            <OverviewPage />
          </Route>
          <Route path="/account">
            <AccountPage />
          </Route>
          <Route path="/account/webhook">
            <AccountWebhookPage />
          </Route>
          <Route path="/plans">
            <PlansPage />
          </Route>
          <Route path="/plans/return">
            <ReturnPage />
          </Route>
          <Route path="/connections">
            <ConnectionsPage />
          </Route>
          <Route path="/keys">
            <KeysPage />
          </Route>
          <Route path="/wallet">
            <WalletPage />
          </Route>
          <Route path="/wallet/return">
            <ReturnPage />
          </Route>
          <Route path="/usage">
            <UsagePage />
          </Route>
          <Route path={VERIFY_PATH}>
            <VerifyPage />
          </Route>
          <Route path="/usage/alerts">
            <AlertsPage />
          </Route>
          <Route path="/apps">
            <ForBusiness page={<AppsPage />} />
          </Route>
          <Route path="/apps/new">
            <ForBusiness page={<RegisterAppPage />} />
          </Route>
          <Route path="/apps/:clientId">
            <ForBusiness page={<AppSettingsPage />} />
          </Route>
          <Route path="/apps/:clientId/analytics">
            <ForBusiness page={<AnalyticsPage />} />
          </Route>
          <Route path="/apps/:clientId/webhook">
            <ForBusiness page={<WebhookPage />} />
          </Route>
          <Route>
            <NotFoundPage />
          </Route>
        </Switch>
      </Suspense>
    </CrashBoundary>
  </SignedInLayout>
);

const ForBusiness = ({ page }: { page: ReactNode }): ReactNode => {
  const { account_type } = useAccount();
  return account_type === 'business' ? page : <BusinessOnlyPage />;
};
