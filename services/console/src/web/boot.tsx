import { CSPProvider } from '@base-ui/react/csp-provider';
import { hydrate, QueryClientProvider } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, StrictMode, startTransition, useMemo } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { ApiContext, createClient, createQueryClient, createTransport, type Transport } from './api/index.ts';
import { createDrafts, DraftsContext } from './drafts.ts';
import { withAskedSession } from './early-session.ts';
import { createLeaveGuard, LeaveGuardContext, OnceOnly } from './leave-guard.tsx';
import { keepSnapshotOf, readSnapshot, registerWorker, type Snapshot, useSnapshot } from './offline.ts';
import { organizationIn } from './organization-address.ts';
import { AddressScope } from './organization-scope.tsx';
import { createPreferences, type Preferences, PreferencesContext } from './preferences.ts';
import { Pages } from './routes.tsx';
import {
  accountIdOf,
  accountOf,
  createSession,
  createStepUp,
  openTabs,
  type Session,
  SessionContext,
  StepUpQuestion,
  tokensFor,
  useSessionState,
} from './session/index.ts';
import {
  CrashBoundary,
  LanguageProvider,
  loadLanguage,
  ThemeProvider,
  Unreachable,
  watchImports,
} from './shell/index.ts';
import { Toasts } from './toasts/index.ts';

export interface AppProps {
  readonly transport: Transport;
  readonly session: Session;
  readonly preferences: Preferences;
  readonly language: Awaited<ReturnType<typeof loadLanguage>>;
  /** Stored content of the pages, for a load without a connection. */
  readonly snapshot: Snapshot | undefined;
}

/** Renders the console. */
const App = ({ transport, session, preferences, language, snapshot }: AppProps): ReactElement => (
  // The policy would block style elements of components. They are not needed.
  <CSPProvider disableStyleElements>
    <SessionContext value={session}>
      <LanguageProvider initial={language} preferences={preferences}>
        <ThemeProvider preferences={preferences}>
          <PreferencesContext value={preferences}>
            <AccountScope transport={transport} session={session} snapshot={snapshot}>
              <Pages />
            </AccountScope>
          </PreferencesContext>
        </ThemeProvider>
      </LanguageProvider>
    </SessionContext>
  </CSPProvider>
);

/** Separates the data of one account from those of another. */
const AccountScope = ({
  transport,
  session,
  snapshot,
  children,
}: Pick<AppProps, 'transport' | 'session' | 'snapshot'> & {
  children: ReactNode;
}): ReactElement => {
  const state = useSessionState();
  const account = accountOf(state);
  const accountId = account && accountIdOf(account);
  const guard = useMemo(createLeaveGuard, []);
  const drafts = useMemo(() => (accountId === undefined ? undefined : createDrafts(accountId)), [accountId]);
  const stepUp = useMemo(createStepUp, []);
  const client = useMemo(
    () => createClient(transport, tokensFor(session, accountId), stepUp.ask),
    [transport, session, accountId, stepUp],
  );
  const queries = useMemo(() => {
    const created = createQueryClient();
    if (accountId !== undefined && snapshot?.account.svc_user_id === accountId) hydrate(created, snapshot.queries);
    return created;
  }, [accountId, snapshot]);
  return (
    <ApiContext value={client}>
      <QueryClientProvider client={queries}>
        <LeaveGuardContext value={guard}>
          <DraftsContext value={drafts}>
            <KeepSnapshot />
            <AddressScope>
              <Toasts>
                <OnceOnly>
                  <CrashBoundary>{children}</CrashBoundary>
                  {accountId !== undefined && <StepUpQuestion stepUp={stepUp} />}
                </OnceOnly>
              </Toasts>
            </AddressScope>
          </DraftsContext>
        </LeaveGuardContext>
      </QueryClientProvider>
    </ApiContext>
  );
};

/** Stores the content of the pages for a load without a connection. */
const KeepSnapshot = (): null => {
  useSnapshot();
  return null;
};

/** Reloads a page that the browser restores from memory: it would still show that it is leaving for the checkout. */
const reloadWhenBroughtBack = (): void => {
  window.addEventListener('pageshow', ({ persisted }) => {
    // Without a network, a reload would show no page at all.
    if (persisted && navigator.onLine) window.location.reload();
  });
};

interface Parts {
  readonly root: Root;
  readonly transport: Transport;
  readonly session: Session;
  readonly preferences: Preferences;
}

const boot = async ({ root, transport, session, preferences }: Parts): Promise<void> => {
  const guess = loadLanguage(preferences, undefined);
  let snapshot: Snapshot | undefined;
  try {
    await session.resume();
  } catch (error) {
    const isOwnPage = organizationIn(window.location.pathname) === undefined;
    snapshot = isOwnPage ? await readSnapshot().catch(() => undefined) : undefined;
    if (snapshot !== undefined) session.restore(snapshot.account);
    const language = await guess;
    const retry = (): void => void boot({ root, transport, session, preferences });
    if (snapshot === undefined) {
      root.render(<Unreachable language={language} error={error} onRetry={retry} />);
      return;
    }
  }
  const state = session.state();
  const account = state.status === 'signed_in' ? state.account : undefined;
  void keepSnapshotOf(account).catch(() => undefined);
  const language = account === undefined ? await guess : await loadLanguage(preferences, account.locale);
  document.documentElement.lang = language.locale;
  // In pieces, between which the page answers a press.
  startTransition(() =>
    root.render(
      <StrictMode>
        <App
          transport={transport}
          session={session}
          preferences={preferences}
          language={language}
          snapshot={snapshot}
        />
      </StrictMode>,
    ),
  );
};

/** Shows the console as soon as it is known who is signed in. */
export const start = (): void => {
  const element = document.getElementById('root');
  if (element === null) throw new Error('index.html has no root');
  watchImports();
  registerWorker();
  reloadWhenBroughtBack();
  const preferences = createPreferences(() => window.localStorage);
  const theme = preferences.theme();
  if (theme !== 'system') document.documentElement.dataset['theme'] = theme;
  const transport = createTransport({ baseUrl: '', fetch: withAskedSession(window.fetch.bind(window)) });
  void boot({ root: createRoot(element), transport, session: createSession(transport, openTabs()), preferences });
};
