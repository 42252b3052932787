import { CSPProvider } from '@base-ui/react/csp-provider';
import { hydrate, QueryClientProvider } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useMemo } from 'react';
import { ApiContext, createClient, createQueryClient, type Transport } from './api/index.ts';
import { createDrafts, DraftsContext } from './drafts/index.ts';
import { createLeaveGuard, LeaveGuardContext, OnceOnly } from './leave-guard/index.ts';
import { type Snapshot, useSnapshot } from './offline/index.ts';
import { AddressScope } from './organization-scope.tsx';
import { type Preferences, PreferencesContext } from './preferences.ts';
import { Pages } from './routes.tsx';
import {
  accountIdOf,
  accountOf,
  createStepUp,
  type Session,
  SessionContext,
  StepUpQuestion,
  tokensFor,
  useSessionState,
} from './session/index.ts';
import { CrashBoundary, LanguageProvider, type loadLanguage, ThemeProvider } from './shell/index.ts';
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
export const App = ({ transport, session, preferences, language, snapshot }: AppProps): ReactElement => (
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
