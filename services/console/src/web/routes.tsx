import { lazy, type ReactElement, type ReactNode, Suspense } from 'react';
import { Route, Routes, useLocation } from 'react-router';
import { OverviewPage } from './overview/index.ts';
import { PlansPage, ReturnPage } from './plans/index.ts';
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

const AccountPage = lazy(async () => ({ default: (await import('./account/index.ts')).AccountPage }));
const DeletedPage = lazy(async () => ({ default: (await import('./account/index.ts')).DeletedPage }));
const MailedLinkPages = lazy(async () => ({ default: (await import('./mailed-links/index.ts')).MailedLinkPages }));
const ConnectionsPage = lazy(async () => ({ default: (await import('./connections/index.ts')).ConnectionsPage }));
const KeysPage = lazy(async () => ({ default: (await import('./keys/index.ts')).KeysPage }));
const WalletPage = lazy(async () => ({ default: (await import('./wallet/index.ts')).WalletPage }));
const UsagePage = lazy(async () => ({ default: (await import('./usage/index.ts')).UsagePage }));
const AlertsPage = lazy(async () => ({ default: (await import('./alerts/index.ts')).AlertsPage }));
const AppsPage = lazy(async () => ({ default: (await import('./apps/index.ts')).AppsPage }));
const RegisterAppPage = lazy(async () => ({ default: (await import('./apps/index.ts')).RegisterAppPage }));
const AppSettingsPage = lazy(async () => ({ default: (await import('./apps/index.ts')).AppSettingsPage }));
const WebhookPage = lazy(async () => ({ default: (await import('./webhooks/index.ts')).WebhookPage }));

const MAILED_LINKS = new Set(['/reset-password', '/verify-email', '/confirm-email', '/undo-email', '/cancel-deletion']);

/** The pages of mailed links, and the others by whether a person is signed in. */
export const Pages = (): ReactElement => {
  const state = useSessionState();
  const { pathname } = useLocation();
  if (MAILED_LINKS.has(pathname)) {
    return (
      <SignedOutLayout>
        <Suspense fallback={<Loading lines={3} />}>
          <MailedLinkPages />
        </Suspense>
      </SignedOutLayout>
    );
  }
  return state.status === 'signed_in' ? <SignedInPages /> : <SignedOutPages state={state} />;
};

const SignedOutPages = ({ state }: { state: Exclude<SessionState, { status: 'signed_in' }> }): ReactElement => (
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

const SignedInPages = (): ReactElement => {
  const { pathname } = useLocation();
  return (
    <SignedInLayout>
      <CrashBoundary key={pathname}>
        <Suspense fallback={<Loading lines={6} />}>
          <Routes>
            <Route path="/" element={<OverviewPage />} />
            <Route path="/account" element={<AccountPage />} />
            <Route path="/plans" element={<PlansPage />} />
            <Route path="/plans/return" element={<ReturnPage />} />
            <Route path="/connections" element={<ConnectionsPage />} />
            <Route path="/keys" element={<KeysPage />} />
            <Route path="/wallet" element={<WalletPage />} />
            <Route path="/wallet/return" element={<ReturnPage />} />
            <Route path="/usage" element={<UsagePage />} />
            <Route path="/usage/alerts" element={<AlertsPage />} />
            <Route path="/apps" element={<ForBusiness page={<AppsPage />} />} />
            <Route path="/apps/new" element={<ForBusiness page={<RegisterAppPage />} />} />
            <Route path="/apps/:clientId" element={<ForBusiness page={<AppSettingsPage />} />} />
            <Route path="/apps/:clientId/webhook" element={<ForBusiness page={<WebhookPage />} />} />
            <Route path="*" element={<NotFoundPage />} />
          </Routes>
        </Suspense>
      </CrashBoundary>
    </SignedInLayout>
  );
};

const ForBusiness = ({ page }: { page: ReactNode }): ReactNode => {
  const { account_type } = useAccount();
  return account_type === 'business' ? page : <BusinessOnlyPage />;
};
