import { Component, type ReactNode } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button, EmptyState, Page } from '../ui/index.ts';

/** Keeps a page that has failed from taking the navigation with it. */
export class CrashBoundary extends Component<{ children: ReactNode }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <CrashPage /> : this.props.children;
  }
}

const CrashPage = (): ReactNode => {
  const { messages } = useI18n();
  const { shell } = messages;
  return (
    <Page title={shell.crashTitle}>
      <EmptyState
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
