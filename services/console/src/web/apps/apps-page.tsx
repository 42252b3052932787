import type { App } from '@svc/contracts';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { Permitted } from '../access/index.ts';
import { useApiQuery } from '../api/index.ts';
import { BlockedBadge } from '../blocked-badge.tsx';
import { docsPath, useI18n } from '../i18n/index.ts';
import { AppIcon, AppState, Button, ButtonLink, EmptyState, Loaded, Page, useFirstItems } from '../ui/index.ts';
import { DomainsCard } from './domains-card.tsx';

/** Lists the apps of a business. */
export const AppsPage = (): ReactElement => {
  const { messages, locale } = useI18n();
  const { apps } = messages;
  const list = useApiQuery('listApps', {});
  const register = (
    <Permitted to="registerApp">
      <ButtonLink to="/apps/new" variant="primary" icon="plus">
        {apps.register}
      </ButtonLink>
    </Permitted>
  );
  return (
    <Page title={apps.title} lead={apps.lead} actions={register}>
      <Loaded query={list} after={<DomainsCard />}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState
              icon="apps"
              title={apps.emptyTitle}
              text={apps.emptyText}
              action={<a href={docsPath(locale, 'quick-start')}>{apps.toGuide}</a>}
            />
          ) : (
            <AppList apps={data} />
          )
        }
      </Loaded>
    </Page>
  );
};

/** Apps shown at first, and more at each press. Each asks whether its webhook is blocked. */
const SHOWN_STEP = 50;

const AppList = ({ apps }: { apps: readonly App[] }): ReactElement => {
  const { common } = useI18n().messages;
  const { shown, hidden, list, showMore } = useFirstItems(apps, SHOWN_STEP);
  return (
    <>
      <ul className="app-list" ref={list}>
        {shown.map((app) => (
          <AppItem key={app.client_id} app={app} />
        ))}
      </ul>
      {hidden > 0 && <Button onClick={() => showMore()}>{common.loadMore}</Button>}
    </>
  );
};

const AppItem = ({ app }: { app: App }): ReactElement => {
  const { apps, overview, common } = useI18n().messages;
  return (
    <li className="app-item">
      <AppIcon clientId={app.client_id} large />
      <div>
        <Link to={`/apps/${app.client_id}`} className="app-link">
          {app.name}
        </Link>
        <p className="hint">
          {apps.types[app.client_type]} · {overview.connectedUsers(app.connections_count)}
        </p>
      </div>
      <span className="app-states">
        <BlockedBadge clientId={app.client_id} label={common.appStates.webhookBlocked} />
        <AppState app={app} />
      </span>
    </li>
  );
};
