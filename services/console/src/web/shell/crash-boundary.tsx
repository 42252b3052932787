import { Component, type ReactElement, type ReactNode, useEffect, useState } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button, EmptyState, Page } from '../ui/index.ts';

const PROBE_MS = 5_000;
const PROBE_TIMEOUT_MS = 10_000;
const RELOADED_KEY = 'svc.reloaded';

/**
 * Shows that a page's script could not be loaded, because the network is away or a release has replaced it. Reloads
 * when the console can be reached. Shows `fallback` if that did not help.
 */
const NotLoadedPage = ({ fallback }: { fallback: ReactElement }): ReactElement => {
  const { shell } = useCoreI18n().messages;
  const [isReloaded] = useState(() => window.history.state?.[RELOADED_KEY] === true);
  useEffect(() => {
    if (isReloaded) return undefined;
    const probe = (): void => void reloadIfReachable();
    probe();
    const timer = setInterval(probe, PROBE_MS);
    window.addEventListener('online', probe);
    return () => {
      clearInterval(timer);
      window.removeEventListener('online', probe);
    };
  }, [isReloaded]);
  if (isReloaded) return fallback;
  return (
    <Page title={shell.notLoadedTitle}>
      <EmptyState icon="refresh" text={shell.notLoadedText} />
    </Page>
  );
};

const reloadIfReachable = async (): Promise<void> => {
  // Browsers log an error for each request without a network.
  if (!navigator.onLine) return;
  const answer = await fetch('/favicon.svg', {
    method: 'HEAD',
    cache: 'no-store',
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  }).catch(() => undefined);
  if (answer?.ok !== true) return;
  window.history.replaceState({ ...window.history.state, [RELOADED_KEY]: true }, '');
  window.location.reload();
};

const failed = new WeakSet<object>();

/** Records failed imports of page scripts, to distinguish them from faults of a page. */
export const watchImports = (): void => {
  window.addEventListener('vite:preloadError', ({ payload }) => failed.add(payload));
};

/** Returns true if the error is a script that could not be loaded. */
const isFailedImport = (error: unknown): boolean => typeof error === 'object' && error !== null && failed.has(error);

interface CrashState {
  readonly failure: 'crash' | 'not_loaded' | undefined;
}

/** Contains the failure of a page, so that the navigation stays usable. */
export class CrashBoundary extends Component<{ children: ReactNode }, CrashState> {
  override state: CrashState = { failure: undefined };

  static getDerivedStateFromError(error: unknown): CrashState {
    return { failure: isFailedImport(error) ? 'not_loaded' : 'crash' };
  }

  override render(): ReactNode {
    const { failure } = this.state;
    if (failure === undefined) return this.props.children;
    return failure === 'not_loaded' ? <NotLoadedPage fallback={<CrashPage />} /> : <CrashPage />;
  }
}

const CrashPage = (): ReactNode => {
  const { messages } = useCoreI18n();
  const { shell } = messages;
  return (
    <Page title={shell.crashTitle}>
      <EmptyState
        icon="alert"
        text={shell.crashText}
        action={
          <Button variant="primary" icon="refresh" onClick={() => window.location.reload()}>
            {shell.reload}
          </Button>
        }
      />
    </Page>
  );
};
