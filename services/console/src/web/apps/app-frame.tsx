import type { App } from '@svc/contracts';
import type { ReactElement, ReactNode } from 'react';
import { useParams } from 'wouter';
import { useApiQuery } from '../api/index.ts';
import { BlockedBadge } from '../blocked-badge.tsx';
import { useI18n } from '../i18n/index.ts';
import { AppIcon, AppState, ButtonLink, EmptyState, Loaded, NavLink, Page } from '../ui/index.ts';
import { ClientId } from './client-credentials.tsx';

/** Renders the frame of an app's pages: its name and sections. */
export const AppFrame = ({ children }: { children: (app: App) => ReactNode }): ReactElement => {
  const { apps: texts, overview } = useI18n().messages;
  const { clientId = '' } = useParams();
  const list = useApiQuery('listApps', {});
  const app = list.data?.data.find((item) => item.client_id === clientId);
  if (list.isSuccess && app === undefined) {
    return (
      <Page title={texts.missingTitle}>
        <EmptyState
          icon="apps"
          text={texts.missingText}
          action={
            <ButtonLink to="/apps" variant="primary">
              {texts.toApps}
            </ButtonLink>
          }
        />
      </Page>
    );
  }
  return (
    <Page title={app?.name ?? texts.title}>
      <Loaded query={list} lines={6}>
        {() =>
          app !== undefined && (
            <>
              <div className="app-head">
                <AppIcon clientId={app.client_id} large />
                <div>
                  <ClientId id={app.client_id} />
                  <p className="hint">
                    <AppState app={app} /> {texts.types[app.client_type]} ·{' '}
                    {overview.connectedUsers(app.connections_count)}
                  </p>
                </div>
              </div>
              <Sections clientId={app.client_id} />
              {children(app)}
            </>
          )
        }
      </Loaded>
    </Page>
  );
};

const Sections = ({ clientId }: { clientId: string }): ReactElement => {
  const { apps, webhooks } = useI18n().messages;
  return (
    <nav className="sections" aria-label={apps.sections}>
      <NavLink to={`/apps/${clientId}`} end>
        {apps.tabs.settings}
      </NavLink>
      <NavLink to={`/apps/${clientId}/analytics`}>{apps.tabs.analytics}</NavLink>
      <NavLink to={`/apps/${clientId}/webhook`}>
        {apps.tabs.webhook} <BlockedBadge clientId={clientId} label={webhooks.blocked} />
      </NavLink>
    </nav>
  );
};
