import { type ReactElement, useState } from 'react';
import { useI18n } from '../i18n/index.ts';
import { Button, Card, EmptyState, ErrorNotice, Loading } from '../ui/index.ts';
import { BlockedNotice } from './blocked-notice.tsx';
import { EventsTable } from './events-table.tsx';
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
  const { webhooks, common } = useI18n().messages;
  const pages = useWebhookEvents(clientId);
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
      <BlockedNotice configuration={configuration} events={events} />
      {pages.isPending && <Loading lines={5} />}
      {pages.isError && <ErrorNotice error={pages.error} onRetry={() => void pages.refetch()} />}
      {pages.isSuccess && events.length === 0 && <EmptyState title={webhooks.emptyTitle} text={webhooks.emptyText} />}
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
