import { type ReactElement, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button, Card, EmptyState, ErrorNotice, Loading } from '../ui/index.ts';
import { BlockedNotice } from './blocked-notice.tsx';
import { type EventFilter, EventFilters, useEventFilter } from './event-filters.tsx';
import { EventsTable } from './events-table.tsx';
import { FoundEvent } from './found-event.tsx';
import { SkipDialog } from './skip-dialog.tsx';
import type { Configuration } from './use-configuration.ts';
import { useWebhookEvents, type WebhookEventRecord } from './use-webhook-events.ts';

/** Deliveries, newest first, and what can be done about those that have failed. */
export const EventsCard = ({
  clientId,
  configuration,
}: {
  clientId: string;
  configuration: Configuration;
}): ReactElement => {
  const { webhooks } = useI18n().messages;
  const filter = useEventFilter();
  const pages = useWebhookEvents(clientId, filter.status);
  const [skipping, setSkipping] = useState<WebhookEventRecord>();
  const listed = filter.eventId === '' ? (pages.data?.pages.flatMap((page) => page.data) ?? []) : [];
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
      <BlockedNotice clientId={clientId} configuration={configuration} events={listed} onSkip={setSkipping} />
      <EventFilters {...filter} />
      {filter.eventId === '' ? (
        <EventList clientId={clientId} filter={filter} pages={pages} onSkip={setSkipping} />
      ) : (
        <FoundEvent clientId={clientId} eventId={filter.eventId} onSkip={setSkipping} />
      )}
      {skipping !== undefined && (
        <SkipDialog clientId={clientId} event={skipping} onClose={() => setSkipping(undefined)} />
      )}
    </Card>
  );
};

const EventList = ({
  clientId,
  filter: { status },
  pages,
  onSkip,
}: {
  clientId: string;
  filter: EventFilter;
  pages: ReturnType<typeof useWebhookEvents>;
  onSkip: (event: WebhookEventRecord) => void;
}): ReactElement => {
  const { webhooks, common } = useI18n().messages;
  const events = pages.data?.pages.flatMap((page) => page.data) ?? [];
  return (
    <>
      {pages.isPending && <Loading lines={5} />}
      {pages.isError && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && events.length === 0 && status === undefined && (
        <EmptyState title={webhooks.emptyTitle} text={webhooks.emptyText} />
      )}
      {pages.isSuccess && events.length === 0 && status !== undefined && <EmptyState text={webhooks.noneWithStatus} />}
      {events.length > 0 && <EventsTable clientId={clientId} events={events} onSkip={onSkip} />}
      {pages.hasNextPage && (
        <Button
          busyLabel={pages.isFetchingNextPage ? common.loading : undefined}
          onClick={() => void pages.fetchNextPage()}
        >
          {common.loadMore}
        </Button>
      )}
    </>
  );
};
