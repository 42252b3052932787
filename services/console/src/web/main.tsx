import { StrictMode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { createTransport, type Transport } from './api/index.ts';
import { App } from './app.tsx';
import { createPreferences, type Preferences } from './preferences.ts';
import { createSession, type Session } from './session/index.ts';
import { loadLanguage, Unreachable, watchImports } from './shell/index.ts';
import './styles/index.css';

/** A page that browsers bring back from memory still shows that it is leaving for the checkout. */
const reloadWhenBroughtBack = (): void => {
  window.addEventListener('pageshow', ({ persisted }) => {
    // Without a network there would be no page at all.
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
  try {
    await session.resume();
  } catch (error) {
    const language = await guess;
    const retry = (): void => void boot({ root, transport, session, preferences });
    root.render(<Unreachable language={language} error={error} onRetry={retry} />);
    return;
  }
  const state = session.state();
  const language = state.status === 'signed_in' ? await loadLanguage(preferences, state.account.locale) : await guess;
  document.documentElement.lang = language.locale;
  root.render(
    <StrictMode>
      <App transport={transport} session={session} preferences={preferences} language={language} />
    </StrictMode>,
  );
};

const start = (): void => {
  const element = document.getElementById('root');
  if (element === null) throw new Error('index.html has no root');
  watchImports();
  reloadWhenBroughtBack();
  const preferences = createPreferences(() => window.localStorage);
  const theme = preferences.theme();
  if (theme !== 'system') document.documentElement.dataset['theme'] = theme;
  const transport = createTransport({ baseUrl: '', fetch: window.fetch.bind(window) });
  void boot({ root: createRoot(element), transport, session: createSession(transport), preferences });
};

start();
