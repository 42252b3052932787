import type { App } from '@svc/contracts';
import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement, ReactNode } from 'react';
import { Link } from 'wouter';
import { Permitted, useMayOpen } from '../access/index.ts';
import { isAwaited, useApiQuery } from '../api/index.ts';
import { BlockedBadge } from '../blocked-badge.tsx';
import { FirstSteps } from '../first-steps/index.ts';
import { useCoreI18n } from '../i18n/index.ts';
import { useAccount, useIsBusiness } from '../session/index.ts';
import {
  AppIcon,
  AppState,
  ButtonLink,
  Card,
  describeError,
  EmptyState,
  Icon,
  type IconName,
  Loaded,
  Loading,
  Money,
  Page,
} from '../ui/index.ts';
import { PlanHistoryCard } from './plan-history-card.tsx';
import { PlanUsageCard } from './plan-usage-card.tsx';

/** Renders key figures that link to their pages. */
const Tiles = (): ReactElement => {
  const { overview } = useCoreI18n().messages;
  const mayOpen = useMayOpen();
  const connections = useApiQuery('listConnections', {}, { enabled: mayOpen('/connections') });
  const keys = useApiQuery('listKeys', {}, { enabled: mayOpen('/keys') });
  const wallet = useApiQuery('getWallet', {});
  return (
    <ul className="tiles">
      {mayOpen('/connections') && (
        <Tile to="/connections" icon="connections" title={overview.connectionsCard} query={connections}>
          {({ data }) => overview.connectionsCount(data.length)}
        </Tile>
      )}
      {mayOpen('/keys') && (
        <Tile to="/keys" icon="keys" title={overview.keysCard} query={keys}>
          {({ data }) => overview.keysCount(data.length)}
        </Tile>
      )}
      <Tile to="/wallet" icon="wallet" title={overview.walletCard} hint={overview.walletHint} query={wallet}>
        {({ balance_micros, currency }) => <Money micros={balance_micros} currency={currency} />}
      </Tile>
    </ul>
  );
};

const Tile = <T,>({
  to,
  icon,
  title,
  hint,
  query,
  children,
}: {
  to: string;
  icon: IconName;
  title: string;
  hint?: string;
  query: UseQueryResult<T, Error>;
  children: (data: T) => ReactNode;
}): ReactElement => (
  <li>
    <Link to={to} className="tile">
      <span className="tile-title">
        <Icon name={icon} />
        {title}
      </span>
      <span className="tile-value">
        <TileValue query={query}>{children}</TileValue>
      </span>
      {hint !== undefined && <span className="hint">{hint}</span>}
    </Link>
  </li>
);

const TileValue = <T,>({
  query,
  children,
}: {
  query: UseQueryResult<T, Error>;
  children: (data: T) => ReactNode;
}): ReactNode => {
  const { messages, formats } = useCoreI18n();
  if (query.data !== undefined) return children(query.data);
  if (query.isError) return <span className="tile-error">{describeError(query.error, messages, formats).title}</span>;
  return (
    <>
      <span className="visually-hidden">{messages.common.loading}</span>
      <span className="skeleton" aria-hidden="true" />
    </>
  );
};

const SHOWN_MAX = 5;

/** Lists the apps of a business, newest first. */
const AppsCard = (): ReactElement => {
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

/** Shows the first page: use, apps, and links. */
export const OverviewPage = (): ReactElement => {
  const { overview } = useCoreI18n().messages;
  const { display_name, business_name } = useAccount();
  const name = display_name ?? business_name;
  const isBusiness = useIsBusiness();
  const isReady = useIsReady(isBusiness);
  const hasNoPlan = useApiQuery('getSubscription', {}).data?.subscription === null;
  return (
    <Page title={overview.title} lead={name === null ? undefined : overview.greeting(name)}>
      <FirstSteps isReady={isReady} placeholder={<Placeholder />}>
        {(isGuided) => (
          <>
            <Tiles />
            {isBusiness && <AppsCard />}
            {/* The first steps already offer a plan. */}
            {!(isGuided && hasNoPlan) && <PlanUsageCard />}
            {/* Last, as it grows once its chart is here. */}
            <PlanHistoryCard />
          </>
        )}
      </FirstSteps>
    </Page>
  );
};

/** Reads what decides on the height of the cards. Returns true once all of it is known, or has failed. */
const useIsReady = (isBusiness: boolean): boolean => {
  const subscription = useApiQuery('getSubscription', {});
  const usage = useApiQuery('getSubscriptionUsage', {});
  const apps = useApiQuery('listApps', {}, { enabled: isBusiness });
  return !isAwaited(subscription) && !isAwaited(usage) && !(isBusiness && isAwaited(apps));
};

const Placeholder = (): ReactElement => (
  <div className="card placeholder">
    <Loading lines={8} />
  </div>
);
