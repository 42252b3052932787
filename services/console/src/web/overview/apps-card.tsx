import type { App } from '@svc/contracts';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import { Permitted } from '../access/index.ts';
import { useApiQuery } from '../api/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { AppIcon, AppState, ButtonLink, Card, EmptyState, Loaded } from '../ui/index.ts';
import { BlockedBadge } from '../webhook-health/index.ts';

const SHOWN_MAX = 5;

/** Lists the apps of a business, newest first. */
export const AppsCard = (): ReactElement => {
  const { overview } = useCoreI18n().messages;
  const apps = useApiQuery('listApps', {});
  return (
    <Card
      title={overview.appsTitle}
      lead={overview.appsLead}
      actions={<ButtonLink to="/apps">{overview.allApps}</ButtonLink>}
    >
      <Loaded query={apps}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState
              icon="apps"
              title={overview.noAppsTitle}
              text={overview.noAppsText}
              action={
                <Permitted to="registerApp">
                  <ButtonLink to="/apps/new">{overview.registerApp}</ButtonLink>
                </Permitted>
              }
            />
          ) : (
            <ul className="rows">
              {data.slice(0, SHOWN_MAX).map((app) => (
                <AppRow key={app.client_id} app={app} />
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  );
};

const AppRow = ({ app }: { app: App }): ReactElement => {
  const { overview, common } = useCoreI18n().messages;
  return (
    <li className="row">
      <AppIcon clientId={app.client_id} />
      <Link to={`/apps/${app.client_id}`} className="row-title">
        {app.name}
      </Link>
      <AppState app={app} />
      <BlockedBadge clientId={app.client_id} label={common.appStates.webhookBlocked} />
      <span className="hint row-end">{overview.connectedUsers(app.connections_count)}</span>
    </li>
  );
};
