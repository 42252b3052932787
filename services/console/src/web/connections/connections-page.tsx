import type { Connection } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { useApiMutation, useApiQuery } from '../api/index.ts';
import { useI18n } from '../i18n/index.ts';
import { ConfirmDialog } from '../overlays/index.ts';
import { useToast } from '../toasts/index.ts';
import {
  AppIcon,
  Button,
  ButtonLink,
  Card,
  EmptyState,
  Facts,
  Loaded,
  Notice,
  OutsideLink,
  Page,
  Time,
  UsageMeter,
} from '../ui/index.ts';
import { BudgetDialog } from './budget-dialog.tsx';
import { EndedConnectionsCard } from './ended-connections-card.tsx';
import { GrantsList } from './grants-list.tsx';
import { HistoryDialog } from './history-dialog.tsx';
import { ReportDialog } from './report-dialog.tsx';

/** Shows the apps that may use the subscription, with their limits, and pauses or disconnects them. */
export const ConnectionsPage = (): ReactElement => {
  const { messages, locale } = useI18n();
  const { connections, firstSteps } = messages;
  const list = useApiQuery('listConnections', {});
  const [leaving, setLeaving] = useState<Connection>();
  const [looking, setLooking] = useState<Connection>();
  const [limiting, setLimiting] = useState<Connection>();
  const [reporting, setReporting] = useState<Connection>();
  const wallet = useApiQuery('getWallet', {});
  return (
    <Page title={connections.title} lead={connections.lead}>
      <Loaded query={list} after={<EndedConnectionsCard />}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState
              icon="connections"
              title={connections.emptyTitle}
              text={connections.emptyText}
              action={
                <ButtonLink to={`/sample-app?locale=${locale}`} leavesConsole>
                  {firstSteps.acts.connect}
                </ButtonLink>
              }
            />
          ) : (
            <div className="stack">
              {data.map((connection) => (
                <ConnectionCard
                  key={connection.client_id}
                  connection={connection}
                  onDisconnect={() => setLeaving(connection)}
                  onLook={() => setLooking(connection)}
                  onLimit={() => setLimiting(connection)}
                  onReport={() => setReporting(connection)}
                />
              ))}
            </div>
          )
        }
      </Loaded>
      {looking !== undefined && <HistoryDialog connection={looking} onClose={() => setLooking(undefined)} />}
      {limiting !== undefined && (
        <BudgetDialog
          connection={limiting}
          currency={limiting.budget?.currency ?? wallet.data?.currency ?? 'EUR'}
          onClose={() => setLimiting(undefined)}
        />
      )}
      {reporting !== undefined && <ReportDialog connection={reporting} onClose={() => setReporting(undefined)} />}
      {leaving !== undefined && <Disconnect connection={leaving} onClose={() => setLeaving(undefined)} />}
    </Page>
  );
};

const ConnectionCard = ({
  connection,
  onDisconnect,
  onLook,
  onLimit,
  onReport,
}: {
  connection: Connection;
  onDisconnect: () => void;
  onLook: () => void;
  onLimit: () => void;
  onReport: () => void;
}): ReactElement => {
  const { messages, formats } = useI18n();
  const { connections, common } = messages;
  const { app, client_id, scope, connected_at, last_used_at } = connection;
  const texts: Readonly<Record<string, string>> = connections.scopes;
  return (
    <Card
      title={app.name}
      icon={<AppIcon clientId={client_id} />}
      actions={
        <>
          <Button variant="quiet" onClick={onLook} aria-label={connections.historyOf(app.name)}>
            {connections.history}
          </Button>
          <Button variant="quiet" onClick={onLimit} aria-label={connections.editOf(app.name)}>
            {connections.edit}
          </Button>
          <PauseButton connection={connection} />
          <Button onClick={onDisconnect} aria-label={connections.disconnectApp(app.name)}>
            {connections.disconnect}
          </Button>
        </>
      }
    >
      {connection.paused && <Notice title={connections.paused}>{connections.pausedText}</Notice>}
      <ConnectionBudget budget={connection.budget} />
      <Facts
        items={[
          [connections.mayDo, formats.list(scope.split(' ').map((name) => texts[name] ?? name))],
          [connections.lastUsed, last_used_at === null ? common.never : <Time at={last_used_at} />],
          ...(connection.budget === null ? [[connections.budget, connections.noBudget] as const] : []),
          [connections.connectedAt, <Time key="connected" at={connected_at} />],
          ...(app.homepage_url === null
            ? []
            : [[connections.website, <Website key="website" url={app.homepage_url} />] as const]),
        ]}
      />
      <GrantsList connection={connection} />
      <div className="actions">
        <Button small variant="quiet" onClick={onReport} aria-label={connections.reportApp(app.name)}>
          {connections.report}
        </Button>
      </div>
    </Card>
  );
};

const PauseButton = ({ connection }: { connection: Connection }): ReactElement => {
  const { connections, common } = useI18n().messages;
  const { client_id, app, paused } = connection;
  const update = useApiMutation('updateConnection', { refreshes: ['listConnections'] });
  return (
    <Button
      variant="quiet"
      busyLabel={update.isPending ? common.working : undefined}
      onClick={() => update.mutate({ params: { client_id }, body: { paused: !paused } })}
      aria-label={paused ? connections.resumeApp(app.name) : connections.pauseApp(app.name)}
    >
      {paused ? connections.resume : connections.pause}
    </Button>
  );
};

const Website = ({ url }: { url: string }): ReactElement => <OutsideLink url={url}>{new URL(url).host}</OutsideLink>;

const Disconnect = ({ connection, onClose }: { connection: Connection; onClose: () => void }): ReactElement => {
  const { connections, common } = useI18n().messages;
  const toast = useToast();
  const { name } = connection.app;
  const disconnect = useApiMutation('deleteConnection', {
    refreshes: ['listConnections', 'listEndedConnections'],
    onDone: () => {
      toast(connections.done(name));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      onClose={onClose}
      title={connections.confirmTitle(name)}
      text={connections.confirmText}
      confirmLabel={connections.disconnect}
      busyLabel={common.working}
      isBusy={disconnect.isPending}
      isDangerous
      error={disconnect.error}
      onConfirm={() => disconnect.mutate({ params: { client_id: connection.client_id } })}
    />
  );
};

/** Shows what an app has used of its limit, if it has one. */
const ConnectionBudget = ({ budget }: Pick<Connection, 'budget'>): ReactElement | undefined => {
  const { messages, formats } = useI18n();
  const { connections } = messages;
  if (budget === null) return undefined;
  const {
    limit_micros: limit,
    used_micros: used,
    currency,
    period,
    resets_at: resetsAt,
    expires_at: expiresAt,
  } = budget;
  const percent = limit === 0 ? 100 : Math.min(100, Math.floor((used / limit) * 100));
  const reset = resetsAt === null ? connections.budgetNoReset : connections.budgetResets(formats.date(resetsAt));
  const end = expiresAt === null ? [] : [connections.budgetUntil(formats.date(expiresAt))];
  return (
    <UsageMeter
      label={connections.budgetMeter(connections.periods[period])}
      percent={percent}
      percentText={formats.usedPercent(percent, used)}
      text={connections.budgetUsed(formats.shortMoney(used, currency), formats.money(limit, currency))}
      exact={connections.budgetUsed(formats.money(used, currency), formats.money(limit, currency))}
      note={[reset, ...end].join(' · ')}
    />
  );
};
