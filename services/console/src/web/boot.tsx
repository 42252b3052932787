import { StrictMode, startTransition } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { createTransport, type Transport } from './api/index.ts';
import { App } from './app.tsx';
import { withAskedSession } from './early-session.ts';
import { keepSnapshotOf, readSnapshot, registerWorker, type Snapshot } from './offline/index.ts';
import { organizationIn } from './organization-address.ts';
import { createPreferences, type Preferences } from './preferences.ts';
import { createSession, openTabs, type Session } from './session/index.ts';
import { loadLanguage, Unreachable, watchImports } from './shell/index.ts';

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
