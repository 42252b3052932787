import type { WebhookEventStatus } from '@svc/contracts';
import { type ReactElement, useState } from 'react';
import { useSearchParams } from 'react-router';
import { useI18n } from '../i18n/index.ts';
import { Button, Card, EmptyState, ErrorNotice, Loading, SelectField } from '../ui/index.ts';
import { BlockedNotice } from './blocked-notice.tsx';
import { EventsTable } from './events-table.tsx';
import { SkipDialog } from './skip-dialog.tsx';
import type { Configuration } from './use-configuration.ts';
import { useWebhookEvents, type WebhookEventRecord } from './use-webhook-events.ts';

const STATUSES: readonly WebhookEventStatus[] = ['queued', 'delivering', 'delivered', 'failed', 'skipped', 'cancelled'];

/** Deliveries, newest first, and what can be done about those that have failed. */
export const EventsCard = ({
  clientId,
  configuration,
}: {
  clientId: string;
  configuration: Configuration;
}): ReactElement => {
  const { webhooks, usage, common } = useI18n().messages;
  const [search, setSearch] = useSearchParams();
  const status = STATUSES.find((value) => value === search.get('status'));
  const pages = useWebhookEvents(clientId, status);
  const [skipping, setSkipping] = useState<WebhookEventRecord>();
  const events = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <Card
      title={webhooks.events}
      lead={webhooks.eventsLead}
      actions={
        <Button
          icon="refresh"
          busyLabel={pages.isRefetching ? webhooks.refreshing : undefined}
          onClick={() => void pages.refetch()}
        >
          {webhooks.refresh}
        </Button>
      }
    >
      <fieldset className="filters">
        <legend className="visually-hidden">{usage.filters}</legend>
        <SelectField
          label={webhooks.status}
          value={status ?? ''}
          onChange={(next) => setSearch(next === '' ? {} : { status: next }, { replace: true })}
          options={[
            { value: '' as const, label: webhooks.allStatuses },
            ...STATUSES.map((value) => ({ value, label: webhooks.statuses[value] })),
          ]}
        />
      </fieldset>
      <BlockedNotice configuration={configuration} events={events} />
      {pages.isPending && <Loading lines={5} />}
      {pages.isError && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && events.length === 0 && status === undefined && (
        <EmptyState title={webhooks.emptyTitle} text={webhooks.emptyText} />
      )}
      {pages.isSuccess && events.length === 0 && status !== undefined && <EmptyState text={webhooks.noneWithStatus} />}
      {events.length > 0 && <EventsTable clientId={clientId} events={events} onSkip={setSkipping} />}
      {pages.hasNextPage && (
        <Button
          busyLabel={pages.isFetchingNextPage ? common.loading : undefined}
          onClick={() => void pages.fetchNextPage()}
        >
          {common.loadMore}
        </Button>
      )}
      {skipping !== undefined && (
        <SkipDialog clientId={clientId} event={skipping} onClose={() => setSkipping(undefined)} />
      )}
    </Card>
  );
};
