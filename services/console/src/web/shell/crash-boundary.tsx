import { Component, type ReactNode } from 'react';
import { useCoreI18n } from '../i18n/index.ts';
import { Button, EmptyState, Page } from '../ui/index.ts';
import { NotLoadedPage } from './not-loaded-page.tsx';

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
