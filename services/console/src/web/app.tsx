import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { type ReactElement, type ReactNode, useMemo } from 'react';
import { BrowserRouter } from 'react-router';
import { ApiContext, createClient, createQueryClient, type Transport } from './api/index.ts';
import { type Preferences, PreferencesContext } from './preferences.ts';
import { Pages } from './routes.tsx';
import { createStepUp, type Session, SessionContext, StepUpDialog, useSessionState } from './session/index.ts';
import { CrashBoundary, LanguageProvider, type loadLanguage, ThemeProvider } from './shell/index.ts';
import { Toasts } from './ui/index.ts';

export interface AppProps {
  readonly transport: Transport;
  readonly session: Session;
  readonly preferences: Preferences;
  readonly language: Awaited<ReturnType<typeof loadLanguage>>;
}

/** The console. */
export const App = ({ transport, session, preferences, language }: AppProps): ReactElement => (
  // Style elements that components write would be blocked, and are not needed.
  <CSPProvider disableStyleElements>
    <SessionContext value={session}>
      <LanguageProvider initial={language} preferences={preferences}>
        <ThemeProvider preferences={preferences}>
          <BrowserRouter>
            <PreferencesContext value={preferences}>
              <AccountScope transport={transport} session={session}>
                <Pages />
              </AccountScope>
            </PreferencesContext>
          </BrowserRouter>
        </ThemeProvider>
      </LanguageProvider>
    </SessionContext>
  </CSPProvider>
);

/** Keeps the data of one account from another one. */
const AccountScope = ({
  transport,
  session,
  children,
}: {
  transport: Transport;
  session: Session;
  children: ReactNode;
}): ReactElement => {
  const state = useSessionState();
  const userId = state.status === 'signed_in' ? state.account.svc_user_id : undefined;
  const stepUp = useMemo(createStepUp, []);
  const client = useMemo(() => createClient(transport, session, stepUp.ask), [transport, session, stepUp]);
  const queries = useMemo(createQueryClient, [userId]);
  return (
    <ApiContext value={client}>
      <QueryClientProvider client={queries}>
        <Toasts>
          <CrashBoundary>{children}</CrashBoundary>
          {userId !== undefined && <StepUpDialog stepUp={stepUp} />}
        </Toasts>
      </QueryClientProvider>
    </ApiContext>
  );
};
